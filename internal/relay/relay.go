// Package relay serves an ssh agent's socket to a sandbox whose user is not the
// host's: an agent answers its own user and root only. Each client is connected to
// the real agent by this process, which is the host user's. Keys can be listed and
// used, all of them or the named ones; adding, removing and locking are refused,
// and so is every extension. No key ever passes through.
package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Config says what to serve, and to whom.
type Config struct {
	Listen string       // the socket to serve, in a directory that only its owner can enter
	Agent  string       // the real agent's socket
	Keys   []string     // fingerprints (SHA256:…) of the keys that may be used; empty means all
	Log    func(string) // gets a line for each signature; may be nil
}

// Serve answers clients until ctx is done, then removes its socket. Clients that are
// connected then are cut off.
func Serve(ctx context.Context, c Config) error {
	_ = os.Remove(c.Listen) // of an earlier launch that was killed
	listener, err := net.Listen("unix", c.Listen)
	if err != nil {
		return err
	}
	defer os.Remove(c.Listen)
	// The directory keeps other users of the host out; inside, the user is another one.
	if err := os.Chmod(c.Listen, 0o666); err != nil {
		_ = listener.Close()
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		client, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		go serve(ctx, c, client)
	}
}

// serve answers one client, over a connection of its own to the agent.
func serve(ctx context.Context, c Config, client net.Conn) {
	defer client.Close()
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	real, err := net.Dial("unix", c.Agent)
	if err != nil {
		c.log(fmt.Sprintf("cannot reach the agent: %v", err))
		return
	}
	defer real.Close()
	_ = agent.ServeAgent(&filter{agent.NewClient(real), c}, client) // ends with the client
}

func (c Config) log(line string) {
	if c.Log != nil {
		c.Log(line)
	}
}

// filter is the agent as the sandbox sees it.
type filter struct {
	real   agent.ExtendedAgent
	config Config
}

var errRefused = errors.New("the sandbox may only list keys and sign")

// allowed tells whether a key may be used. A certificate counts as its key too.
func (f *filter) allowed(key ssh.PublicKey) bool {
	if len(f.config.Keys) == 0 {
		return true
	}
	prints := []string{ssh.FingerprintSHA256(key)}
	if parsed, err := ssh.ParsePublicKey(key.Marshal()); err == nil {
		if cert, ok := parsed.(*ssh.Certificate); ok {
			prints = append(prints, ssh.FingerprintSHA256(cert.Key))
		}
	}
	for _, allowed := range f.config.Keys {
		for _, print := range prints {
			if print == allowed {
				return true
			}
		}
	}
	return false
}

// List implements agent.Agent.
func (f *filter) List() ([]*agent.Key, error) {
	keys, err := f.real.List()
	if err != nil {
		return nil, err
	}
	var allowed []*agent.Key
	for _, key := range keys {
		if f.allowed(key) {
			allowed = append(allowed, key)
		}
	}
	return allowed, nil
}

// Sign implements agent.Agent.
func (f *filter) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	return f.SignWithFlags(key, data, 0)
}

// SignWithFlags implements agent.ExtendedAgent.
func (f *filter) SignWithFlags(key ssh.PublicKey, data []byte, flags agent.SignatureFlags) (*ssh.Signature, error) {
	name := ssh.FingerprintSHA256(key)
	if !f.allowed(key) {
		f.config.log("refused to sign with " + name)
		return nil, errRefused
	}
	signature, err := f.real.SignWithFlags(key, data, flags)
	if err != nil {
		f.config.log(fmt.Sprintf("could not sign with %s: %v", name, err))
		return nil, err
	}
	f.config.log("signed with " + name)
	return signature, nil
}

// The rest of agent.ExtendedAgent is refused.

func (f *filter) Add(agent.AddedKey) error                 { return errRefused }
func (f *filter) Remove(ssh.PublicKey) error               { return errRefused }
func (f *filter) RemoveAll() error                         { return errRefused }
func (f *filter) Lock([]byte) error                        { return errRefused }
func (f *filter) Unlock([]byte) error                      { return errRefused }
func (f *filter) Signers() ([]ssh.Signer, error)           { return nil, errRefused }
func (f *filter) Extension(string, []byte) ([]byte, error) { return nil, agent.ErrExtensionUnsupported }
