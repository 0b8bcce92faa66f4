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
func (s *session) question(ctx context.Context, text string) (string, error) {
	answer, err := s.answer(ctx, text+": ")
	if errors.Is(err, io.EOF) && answer == "" {
		s.say("")
		return "", errLeave
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
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
		answer, err := s.question(ctx, "a not reached, c completed, empty to skip, q to end")
		if err != nil || answer == "" {
			return err
		}
		var change apiclient.Change
		switch answer {
		case "a":
			change, err = s.attemptOf(call)
		case "c":
			change, err = s.completionOf(ctx, call)
		default:
			s.say("there is no %s", quote(answer))
			continue
		}
		if err != nil {
			return err
		}
		switch _, err := s.queueChange(ctx, change); apiclient.KindOf(err) {
		case "":
			s.say("done")
			return nil
		case apiclient.KindUnknownOutcome: // It goes out with the next one: asked for again, it would be made twice.
			s.say("kept: %s", err)
			return nil
		case apiclient.KindInterrupted:
			return err
		default:
			s.say("not done: %s", err)
		}
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

// completionOf asks for the result. What cannot be sent is asked for again at once, before
// anything else is typed.
func (s *session) completionOf(ctx context.Context, call apitype.Call) (apiclient.Change, error) {
	result := &apitype.CallResultRequest{}
	s.setNow(&result.CompletedAt)
	r := apitype.CompleteCallRequest{Result: result}
	if err := s.agent(&r.UserUUID); err != nil {
		return apiclient.Change{}, err
	}
	questions := []struct {
		text string
		set  func(answer string) error
	}{
		{"result code", func(answer string) error {
			result.ResultCode = optional(answer)
			return nil
		}},
		{"rating from 0 to 10, empty for none", func(answer string) (err error) {
			result.DonorRetentionRating, err = ratingOf(answer)
			return err
		}},
		{"notes, empty for none", func(answer string) error {
			result.Notes = optional(answer)
			return nil
		}},
	}
	for i := 0; i < len(questions); {
		answer, err := s.question(ctx, questions[i].text)
		if err != nil {
			return apiclient.Change{}, err
		}
		if err = questions[i].set(answer); err == nil {
			err = refuse(r.Validate())
		}
		if err != nil {
			s.say("%s", err)
			continue
		}
		i++
	}
	return apiclient.CompleteCallChange(call.UUID, r)
}

// optional is an answer, nil when it is empty.
func optional(answer string) *string {
	if answer == "" {
		return nil
	}
	return &answer
}

// ratingOf reads a rating, nil for none.
func ratingOf(answer string) (*apitype.Number, error) {
	if answer == "" {
		return nil, nil
	}
	number, err := apitype.ParseNumber(answer)
	if err != nil {
		return nil, errors.New("the rating must be a number")
	}
	return &number, nil
}
