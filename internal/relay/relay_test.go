package relay

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// served starts an agent with two keys and a relay to it, and returns a client of the
// relay, the keys, and what was logged.
func served(t *testing.T, allow func(keys []*agent.Key) []string) (agent.ExtendedAgent, agent.Agent, []*agent.Key, func() []string) {
	t.Helper()
	dir := t.TempDir()
	keyring := agent.NewKeyring()
	for range 2 {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		require.NoError(t, err)
		require.NoError(t, keyring.Add(agent.AddedKey{PrivateKey: key}))
	}
	real, err := net.Listen("unix", filepath.Join(dir, "real"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = real.Close() })
	go func() {
		for {
			conn, err := real.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(keyring, conn); _ = conn.Close() }()
		}
	}()
	keys, err := keyring.List()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var mu sync.Mutex
	var logged []string
	listen := filepath.Join(dir, "relay")
	c := Config{Listen: listen, Agent: filepath.Join(dir, "real"), Keys: allow(keys), Log: func(s string) { mu.Lock(); logged = append(logged, s); mu.Unlock() }}
	go func() { done <- Serve(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoFileExists(t, listen)
	})
	var conn net.Conn
	require.Eventually(t, func() bool { conn, err = net.Dial("unix", listen); return err == nil }, 5*time.Second, time.Millisecond)
	t.Cleanup(func() { _ = conn.Close() })
	info, err := os.Stat(listen)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o666), info.Mode().Perm())
	return agent.NewClient(conn), keyring, keys, func() []string { mu.Lock(); defer mu.Unlock(); return logged }
}

func TestListAndSignAllKeys(t *testing.T) {
	client, _, keys, logged := served(t, func([]*agent.Key) []string { return nil })
	listed, err := client.List()
	require.NoError(t, err)
	require.Len(t, listed, 2)
	signature, err := client.Sign(keys[0], []byte("data"))
	require.NoError(t, err)
	require.NoError(t, keys[0].Verify([]byte("data"), signature))
	require.Equal(t, []string{"signed with " + ssh.FingerprintSHA256(keys[0])}, logged())
}

func TestOnlyNamedKeys(t *testing.T) {
	client, _, keys, logged := served(t, func(keys []*agent.Key) []string { return []string{ssh.FingerprintSHA256(keys[1])} })
	listed, err := client.List()
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, keys[1].Blob, listed[0].Blob)
	_, err = client.Sign(keys[0], []byte("data"))
	require.Error(t, err)
	_, err = client.Sign(keys[1], []byte("data"))
	require.NoError(t, err)
	require.Equal(t, []string{"refused to sign with " + ssh.FingerprintSHA256(keys[0]), "signed with " + ssh.FingerprintSHA256(keys[1])}, logged())
}

func TestEverythingElseIsRefused(t *testing.T) {
	client, keyring, keys, _ := served(t, func([]*agent.Key) []string { return nil })
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	require.Error(t, client.Add(agent.AddedKey{PrivateKey: key}))
	require.Error(t, client.Remove(keys[0]))
	require.Error(t, client.RemoveAll())
	require.Error(t, client.Lock([]byte("x")))
	require.Error(t, client.Unlock([]byte("x")))
	_, err = client.Extension("session-bind@openssh.com", nil)
	require.Error(t, err)
	listed, err := keyring.List()
	require.NoError(t, err)
	require.Len(t, listed, 2, "the agent is as it was")
}

// Whatever a client sends, the relay survives and serves the next one.
func FuzzClient(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 11})
	f.Add([]byte{255, 255, 255, 255})
	f.Add([]byte{0, 0, 0, 5, 13, 0, 0, 0, 0})
	keyring := agent.NewKeyring()
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = agent.ServeAgent(&filter{real: keyring.(agent.ExtendedAgent)}, ours)
			_ = ours.Close()
		}()
		go func() {
			buf := make([]byte, 4096)
			for {
				if _, err := theirs.Read(buf); err != nil {
					return
				}
			}
		}()
		_ = theirs.SetDeadline(time.Now().Add(time.Second))
		_, _ = theirs.Write(data)
		_ = theirs.Close()
		<-done
	})
}
