package profile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// How long a token command may take, and how much of its output is kept, in bytes: more
// than any token has.
const (
	commandTimeout = 30 * time.Second
	maxPrinted     = 64 << 10
)

// maxComplaint is the length of a failed command's error text in a message, in bytes.
const maxComplaint = 200

func runCommand(ctx context.Context, command []string) (string, error) {
	if len(command) == 0 {
		return "", ErrNoToken
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = withoutToken(os.Environ())
	cmd.WaitDelay = time.Second
	var out, complaint printed
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // It ended well, and something that it started holds its output open.
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it did not end within %s", commandTimeout)
	}
	if err != nil {
		return "", fmt.Errorf("token command %s: %w", command[0], withComplaint(err, complaint.text))
	}
	token := strings.TrimSpace(string(out.text))
	if out.more {
		return "", fmt.Errorf("token command %s printed too much for a token", command[0])
	}
	if token == "" {
		return "", fmt.Errorf("token command %s printed nothing", command[0])
	}
	if strings.ContainsAny(token, "\r\n") {
		return "", fmt.Errorf("token command %s printed more than one line", command[0])
	}
	return token, nil
}

// printed is the beginning of what a program prints. The rest is read and dropped: a
// program that waits to be read would not end.
type printed struct {
	text []byte
	more bool // There was more than is kept.
}

// Write keeps what there is room for.
func (p *printed) Write(data []byte) (int, error) {
	room := min(len(data), maxPrinted-len(p.text))
	p.text = append(p.text, data[:room]...)
	p.more = p.more || room < len(data)
	return len(data), nil
}

// withComplaint adds the first line of a failed program's error text, without possible secrets. Its output is never
// shown, because it may be the token.
func withComplaint(err error, said []byte) error {
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	line = withoutSecrets(line)
	if line == "" {
		return err
	}
	if len(line) > maxComplaint {
		line = strings.ToValidUTF8(line[:maxComplaint], "") + "…"
	}
	return fmt.Errorf("%w: %s", err, line)
}

// withoutSecrets masks what follows the name of a secret, and whatever is as long and as
// plain as a token. Names of files stay: their parts are shorter.
func withoutSecrets(text string) string {
	named := regexp.MustCompile(
		`(?i)((?:bearer|token|password|passphrase|secret|key)["']?(?:\s*[:=]\s*|\s+bearer\s+)["']?|bearer\s+)[^\s"']+`,
	)
	long := regexp.MustCompile(`[A-Za-z0-9_+=.~-]{32,}`)
	return long.ReplaceAllString(named.ReplaceAllString(text, "$1***"), "***")
}

// withoutToken returns an environment without a token, for child processes.
func withoutToken(environment []string) []string {
	var kept []string
	for _, entry := range environment {
		if !strings.HasPrefix(entry, "FUNDESK_TOKEN=") {
			kept = append(kept, entry)
		}
	}
	return kept
}
