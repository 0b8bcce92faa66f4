package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// oddServer answers every connection by hand: answer gets each request, with what it writes to,
// and the connection ends when that returns false.
func oddServer(t *testing.T, answer func(w net.Conn, r *http.Request) (goOn bool)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				for reader := bufio.NewReader(connection); ; {
					request, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					if !answer(connection, request) {
						return
					}
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

const oddID = "11111111-1111-4111-8111-111111111111"

// stay keeps a connection until the client ends it.
func stay(w net.Conn) bool {
	_, _ = io.Copy(io.Discard, w)
	return false
}

// A command ends whatever a server sends. It reports the mistake in one line on stderr, without the foreign text.
// Bodies without an end come from hostile services.
func TestOddServers(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	const timeout = 2 * time.Second
	donor := `{"uuid":"` + oddID + `","firstName":"Maria","lastName":"Secret","iban":"NL91ABNA0417164300"}`
	list := `{"pageInfo":{"hasNextPage":false,"endCursor":"c"},"edges":[{"cursor":"c","node":` + donor + `}]}`
	whole := func(status, headers, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
			status, headers, len(body), body)
	}
	send := func(text string) func(net.Conn, *http.Request) bool {
		return func(w net.Conn, _ *http.Request) bool {
			_, err := io.WriteString(w, text)
			return err == nil
		}
	}
	then := func(first string, rest func(net.Conn) bool) func(net.Conn, *http.Request) bool {
		return func(w net.Conn, _ *http.Request) bool {
			_, _ = io.WriteString(w, first)
			return rest(w)
		}
	}
	const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	tests := []struct {
		name   string
		answer func(w net.Conn, r *http.Request) bool
		code   int
	}{
		{"100 and nothing more", then("HTTP/1.1 100 Continue\r\n\r\n", stay), 8},
		{"103 without an end", func(w net.Conn, _ *http.Request) bool {
			for {
				if _, err := io.WriteString(w, "HTTP/1.1 103 Early Hints\r\nLink: </Secret>\r\n\r\n"); err != nil {
					return false
				}
				time.Sleep(20 * time.Millisecond) // A server's pace.
			}
		}, 8},
		{
			name:   "101 that keeps the line",
			answer: then("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"+donor, stay),
			code:   8,
		},
		{"an answer that comes twice", send(whole("200 OK", "", list) + whole("200 OK", "", list)), 0},
		{"a body that stands still", then(chunked+"5\r\n{    \r\n", stay), 8},
		{
			name: "a page that ends within the first record",
			answer: then("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"+list[:80], func(net.Conn) bool {
				return false
			}),
			code: 8,
		},
		{"a part", send(whole("206 Partial Content", "Content-Range: bytes 0-9/99\r\n", list)), 8},
		{"HTTP/1.0", then("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"+list, func(net.Conn) bool {
			return false
		}), 0},
		{"gzip that was not asked for", send(whole("200 OK", "Content-Encoding: gzip\r\n", "\x1f\x8b\x08Maria")), 8},
	}
	for _, test := range tests {
		for line, changes := range map[string]bool{
			"person list --all -o ndjson":                                false,
			"person update " + oddID + " --first-name X --yes -o ndjson": true,
		} {
			if changes && test.code == 0 {
				continue // It is answered with a list.
			}
			t.Run(test.name+"/"+line, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				command := exec.CommandContext(t.Context(), filepath.Join(programs, "fundesk"),
					append([]string{"--retry", "1", "--timeout", timeout.String()}, strings.Fields(line)...)...)
				command.Env = append(h.env, "FUNDESK_BASE_URL="+oddServer(t, test.answer), "FUNDESK_TOKEN=token")
				var problem strings.Builder
				command.Stderr = &problem
				began := time.Now()
				// The exit code shows it.
				_ = command.Run()
				if took := time.Since(began); took > time.Minute { // A slow machine starts a program in many seconds.
					t.Errorf("got an end after %s, want it after a few time-outs of %s", took, timeout)
				}
				want, lines := test.code, 1
				if code := command.ProcessState.ExitCode(); code != want && !(changes && code == 10) {
					t.Errorf("got exit code %d, want %d", code, want)
				}
				if want == 0 {
					lines = 0
				}
				text := problem.String()
				if strings.Count(text, "\n") != lines ||
					strings.Contains(text, "Secret") ||
					strings.Contains(text, "Maria") {
					t.Errorf("got %q on stderr, want %d lines without a donor", text, lines)
				}
			})
		}
	}
}

// The second interrupt ends a command, whatever it waits for.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	h := newHome(t)
	// The program that is asked for the token takes no notice of interrupts, nor of being waited for.
	h.must(t, "fundesk profile add prod --base-url http://127.0.0.1:1 --set token_command=sh --set token_command=-c "+
		`--set token_command='trap "" INT TERM; kill -INT $PPID; sleep 0.5; kill -INT $PPID; sleep 600'`)
	began := time.Now()
	_, errs, _ := h.run(t, "fundesk call list")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("got an end after %s, and %s, want it at once", took, errs)
	}
}
