package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
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
	// First: what cannot be kept must not be asked for.
	box, err := s.outbox(ctx)
	if err != nil {
		return err
	}
	s.say("Work calls line by line. An empty answer skips; q ends.")
	shown := 0
	seen := map[apitype.UUID]bool{} // A service may list a call on two pages.
	calls := client.Calls.All(ctx, apitype.CallListOptions{Include: []string{apitype.IncludePerson}}, apiclient.AllOptions{})
	for record, err := range calls {
		call, err := apiclient.Decoded(record, err)
		if err != nil {
			return err
		}
		if call.Status != apitype.CallRequested || seen[call.UUID] {
			continue
		}
		seen[call.UUID] = true
		call, free, err := stillRequested(ctx, client, box, call)
		if err != nil {
			return err
		}
		if !free {
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

// stillRequested reads a call again, which may have been listed long ago. It is not free
// where somebody has ended it, or where a change of it waits in the outbox.
func stillRequested(ctx context.Context, client *apiclient.Client, box *outbox.Outbox, listed apitype.Call) (call apitype.Call, free bool, err error) {
	entries, _, err := box.List()
	if err != nil {
		return listed, false, err
	}
	for _, e := range entries {
		if e.UUID == listed.UUID && e.State != outbox.StateRejected {
			return listed, false, nil
		}
	}
	call, err = apiclient.Decoded(client.Calls.Get(ctx, listed.UUID))
	if apiclient.KindOf(err) == apiclient.KindNotFound {
		return listed, false, nil
	}
	if call.Person.Pointer() == nil {
		call.Person = listed.Person
	}
	return call, call.Status == apitype.CallRequested, err
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

// tellCall says what is to be known before the number is dialled.
func (s *session) tellCall(call apitype.Call) {
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
}

// workCall tells a call and asks what came of it.
func (s *session) workCall(ctx context.Context, call apitype.Call) error {
	s.tellCall(call)
	var change apiclient.Change
	ask := "a not reached, c completed, empty to skip, q to end"
	again := "" // The answer that tries again what the disk did not take.
	for {
		answer, err := s.question(ctx, again+ask)
		if err != nil || answer == "" {
			return err
		}
		switch answer {
		case "r":
			if again == "" {
				s.say("there is nothing to try again")
				continue
			}
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
		case apiclient.KindFailure:
			again = "r to try again what you entered, "
			s.say("not done: %s", err)
		default:
			again = ""
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
