package config

import (
	"net"
	"net/url"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
)

// network is section 5, and the proxy of section 7. A proxy command alone means
// proxied; together with an explicit off of the same rank it is a contradiction.
func (l *loader) network(o *oci.Options) {
	value, from := l.word("", []string{"on", "off", "proxied"}, "--network", l.flags.Network, "network", l.profile.Network,
		"LLXPRT_SANDBOX_NETWORK", "SANDBOX_NETWORK")
	command := l.env.Get("LLXPRT_SANDBOX_PROXY_COMMAND")
	o.Network = oci.Network(value)
	switch {
	case value == "off" && command != "" && l.flags.Network == "" && l.profile.Network == "":
		l.keep(&argv.Fatal{
			Text: from + " is off, and LLXPRT_SANDBOX_PROXY_COMMAND asks for a proxied network",
			Hint: "leave one of the two out, or say --network off to overrule both",
		})
	case value == "off":
	case command != "":
		o.Network = oci.Proxied
		l.proxy(o, command)
	case value == "proxied":
		l.keep(&argv.Fatal{
			Text:  from + " is proxied, but there is no proxy command",
			Hint:  "set LLXPRT_SANDBOX_PROXY_COMMAND to a command of the image that serves a proxy on port " + oci.ProxyPort,
			Usage: strings.HasPrefix(from, "--"),
		})
	case value == "":
		o.Network = oci.On
	}
}

func (l *loader) proxy(o *oci.Options, command string) {
	words, err := SplitFlags("LLXPRT_SANDBOX_PROXY_COMMAND", command, l.lookup)
	l.keep(err)
	if err == nil && len(words) == 0 {
		l.keep(badValue("LLXPRT_SANDBOX_PROXY_COMMAND", command, "a command", ""))
	}
	raw, from := l.env.first("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
	if raw == "" {
		raw = "http://localhost:" + oci.ProxyPort
	}
	noProxy, _ := l.env.first("NO_PROXY", "no_proxy")
	seen, err := proxyURL(raw)
	if err != nil {
		// The URL may hold a password: it is not repeated.
		l.keep(&argv.Fatal{Text: from + " is not a valid proxy URL", Hint: "write it as http://HOST:PORT"})
	}
	o.Proxy = &oci.Proxy{Command: words, URL: seen, NoProxy: noProxy}
}

// proxyURL replaces a loopback host by the proxy container's name: as the URL's
// host, wherever else that text may stand.
func proxyURL(raw string) (string, error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", &argv.Fatal{Text: "not a URL"}
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	if !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
		return raw, nil
	}
	port := u.Port()
	u.Host = oci.ProxyName
	if port != "" {
		u.Host = net.JoinHostPort(oci.ProxyName, port)
	}
	return u.String(), nil
}
