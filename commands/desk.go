package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// isAccessible reports whether everything is to be said line by line: for screen readers
// and braille displays, which a drawn screen and a line that is written over confuse.
func (s *session) isAccessible() bool {
	value := s.app.Getenv("ACCESSIBLE")
	return value != "" && value != "0"
}

// errLeave ends the desk.
var errLeave = errors.New("leave")

// lineDesk works calls by questions and answers, without a drawn screen. Every change
// goes through the outbox, as on the screen.
func (s *session) lineDesk(ctx context.Context) error {
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	s.say("Work calls line by line. An empty answer skips; q ends.")
	shown := 0
	calls := client.Calls.All(ctx, apitype.CallListOptions{Include: []string{apitype.IncludePerson}}, apiclient.AllOptions{})
	for record, err := range calls {
		call, err := apiclient.Decoded(record, err)
		if err != nil {
			return err
		}
		if call.Status != apitype.CallRequested {
			continue
		}
		shown++
		switch err := s.workCall(ctx, call); {
		case errors.Is(err, errLeave):
			return nil
		case err != nil:
			return err
		}
	}
	s.say("No further call waits; %s shown.", count(shown, "call"))
	return nil
}

// say writes one line.
func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.app.Err, render.Clean(fmt.Sprintf(format, args...)))
}

// question asks for one line; the end of the input leaves the desk.
func (s *session) question(text string) (string, error) {
	fmt.Fprintf(s.app.Err, "%s: ", text)
	answer, err := readLine(s.app.In)
	if errors.Is(err, io.EOF) && answer == "" {
		s.say("")
		return "", errLeave
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.TrimSpace(answer); answer == "q" {
		return "", errLeave
	}
	return answer, nil
}

// workCall tells a call and asks what came of it.
func (s *session) workCall(ctx context.Context, call apitype.Call) error {
	person := call.Person.Value()
	s.say("")
	s.say("%s call for %s, requested %s, %s so far", call.Type, render.PersonName(person), s.locale().Relative(call.RequestedAt.Time, s.app.Now()), count(call.AttemptsCount, "attempt"))
	for _, number := range []*string{person.MobilePhoneNumber, person.PhoneNumber} {
		if number != nil {
			s.say("number: %s", s.locale().Phone(*number))
		}
	}
	if person.OptInPhone != nil && !*person.OptInPhone {
		s.say("warning: this person does not want to be called")
	}
	if call.Notes != nil {
		s.say("notes: %s", *call.Notes)
	}
	for {
		answer, err := s.question("a not reached, c completed, empty to skip, q to end")
		if err != nil || answer == "" {
			return err
		}
		var change apiclient.Change
		switch answer {
		case "a":
			change, err = s.attemptOf(call)
		case "c":
			change, err = s.completionOf(call)
		default:
			s.say("there is no %s", quote(answer))
			continue
		}
		if err != nil {
			return err
		}
		if _, err := s.queueChange(ctx, change); err != nil {
			s.say("not done: %s", err)
			continue
		}
		s.say("done")
		return nil
	}
}

func (s *session) attemptOf(call apitype.Call) (apiclient.Change, error) {
	r := apitype.AddAttemptRequest{}
	s.setNow(&r.AttemptAt)
	if err := s.agent(&r.UserUUID); err != nil {
		return apiclient.Change{}, err
	}
	return apiclient.AddAttemptChange(call.UUID, r)
}

// completionOf asks for the result; what cannot be sent is asked for again.
func (s *session) completionOf(call apitype.Call) (apiclient.Change, error) {
	for {
		result := &apitype.CallResultRequest{}
		s.setNow(&result.CompletedAt)
		r := apitype.CompleteCallRequest{Result: result}
		if err := s.agent(&r.UserUUID); err != nil {
			return apiclient.Change{}, err
		}
		code, err := s.question("result code")
		if err != nil {
			return apiclient.Change{}, err
		}
		rating, err := s.question("rating from 0 to 10, empty for none")
		if err != nil {
			return apiclient.Change{}, err
		}
		notes, err := s.question("notes, empty for none")
		if err != nil {
			return apiclient.Change{}, err
		}
		if code != "" {
			result.ResultCode = &code
		}
		if notes != "" {
			result.Notes = &notes
		}
		if rating != "" {
			number, err := apitype.ParseNumber(rating)
			if err != nil {
				s.say("the rating must be a number")
				continue
			}
			result.DonorRetentionRating = &number
		}
		if err := refuse(r.Validate()); err != nil {
			s.say("%s", err)
			continue
		}
		return apiclient.CompleteCallChange(call.UUID, r)
	}
}
