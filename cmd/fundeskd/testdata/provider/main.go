// Provider is an OpenID Connect provider for a machine that is being tried. It signs one person in as soon as the page
// of a code is visited. Use it nowhere else.
//
//	provider -listen 192.0.2.1:443 -issuer https://login.example/realms/charity -cert a.crt -key a.key \
//	  -subject anneke -claims '{"name": "Anneke"}'
package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"fundesk/service/signin/signintest"
)

func main() {
	err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	listen := flag.String("listen", "", "address")
	issuer := flag.String("issuer", "", "https address of the issuer")
	cert := flag.String("cert", "", "file of its certificate")
	key := flag.String("key", "", "file of the key of the certificate")
	subject := flag.String("subject", "", "sub of the person")
	text := flag.String("claims", "{}", "claims of the person's access tokens, JSON")
	flag.Parse()
	var claims map[string]any
	err := json.Unmarshal([]byte(*text), &claims)
	if err != nil {
		return fmt.Errorf("read the claims: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	p := signintest.NewAt(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}}), *issuer)
	defer p.Close()
	p.AddUser(*subject, claims)
	p.ApproveAs = *subject
	fmt.Println("ready")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	return nil
}
