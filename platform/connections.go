package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// Connection is one entry of `podman system connection list --format json`.
type Connection struct {
	Name     string
	URI      string
	Identity string // the private key's file
	Default  bool
}

// ParseConnections reads that command's output. It must be a list of objects; keys
// that newer versions add are passed over.
func ParseConnections(text string) ([]Connection, error) {
	var list []Connection
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("not a list of connections: %w", err)
	}
	if list == nil {
		return nil, errors.New("not a list of connections: null")
	}
	return list, nil
}

// SSHAddress is where an ssh URI leads.
type SSHAddress struct {
	User, Host string // Host without the brackets of an IPv6 address
	Port       int    // 22 if the URI names none
}

// ParseSSHURI reads ssh://USER@HOST[:PORT][/PATH]. An IPv6 host stands in brackets.
func ParseSSHURI(text string) (SSHAddress, error) {
	u, err := url.Parse(text)
	if err != nil {
		return SSHAddress{}, errors.New("it is no URI")
	}
	a := SSHAddress{Host: u.Hostname(), Port: 22}
	switch {
	case u.Scheme != "ssh":
		return SSHAddress{}, errors.New("it is no ssh:// URI")
	case u.User.Username() == "":
		return SSHAddress{}, errors.New("it names no user")
	case a.Host == "":
		return SSHAddress{}, errors.New("it names no host")
	}
	a.User = u.User.Username()
	// ssh would take either for an option, or for a second host.
	for _, part := range []string{a.User, a.Host} {
		for i, r := range part {
			if r <= ' ' || r == 0x7f || r == '@' || i == 0 && r == '-' {
				return SSHAddress{}, errors.New("its user or host holds a character that ssh cannot be given")
			}
		}
	}
	if port := u.Port(); port != "" {
		if a.Port, err = strconv.Atoi(port); err != nil || a.Port < 1 || a.Port > 65535 {
			return SSHAddress{}, fmt.Errorf("its port %q is not from 1 to 65535", port)
		}
	}
	return a, nil
}
