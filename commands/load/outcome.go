package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
)

// This file has the words for the end of a run over a file, and for one that sends nothing.

// conclude reports the end of a run; why stopped it early.
func (r *rowRun) conclude(why error, p *progress) error {
	hint := r.againHint()
	if err := r.cmd.Context().Err(); err != nil {
		return cli.WithHint(
			&apiclient.Error{
				Kind:    apiclient.KindInterrupted,
				Message: fmt.Sprintf("interrupted after %d of %d lines", p.done, p.total),
				Err:     err,
			},
			hint,
		)
	}
	worked := p.done - (r.failed() - r.skipped)
	told := fmt.Sprintf("%d %s", worked, created)
	if r.compares && r.created > 0 {
		told = fmt.Sprintf("%d %s, %d %s", worked-r.created, changed, r.created, created)
	} else if r.compares {
		told = fmt.Sprintf("%d %s", worked, changed)
	}
	if r.parts > 0 {
		told += fmt.Sprintf(", %d without all consents", r.parts)
	}
	if why != nil {
		_, isAlike := errors.AsType[*bulk.AlikeError](why)
		if isAlike {
			hint = "--keep-going sends the rest anyway"
		}
		hint = r.session.AfterLogin(why, hint)
		if worked+r.parts == 0 && !isAlike { // Nothing was done: it is not a part that failed.
			return cli.WithHint(why, hint)
		}
		message := fmt.Sprintf("stopped after %d of %d lines (%s): %s", p.done, p.total, told, why)
		return cli.WithHint(&apiclient.Error{Kind: apiclient.KindPartial, Message: message, Err: why}, hint)
	}
	unchanged := ""
	if r.unchanged > 0 {
		unchanged = fmt.Sprintf("%d unchanged, ", r.unchanged)
	}
	if r.overtaken.Len > 0 {
		unchanged += fmt.Sprintf("%d left out, ", r.overtaken.Len)
	}
	r.session.Note("%s, %s%d failed", told, unchanged, r.failed())
	return r.partial(p.total + r.skipped)
}

// failed returns how many lines are wrong, without the ones that are only left out.
func (r *rowRun) failed() int { return r.wrong.count - r.overtaken.Len }

// printOvertaken prints the results of the lines that are left out.
func (r *rowRun) printOvertaken() {
	for result := range r.overtaken.All() {
		r.printed.Add(result)
	}
}

// partial returns the error of a run of which some lines failed or were left out, or nil.
func (r *rowRun) partial(tried int) error {
	if r.wrong.count == 0 {
		return nil
	}
	leftOut := cli.Count(r.overtaken.Len, "line") + " left out"
	if r.leftOut[errOvertaken] == r.overtaken.Len {
		leftOut += ", because the records changed after the export"
	}
	message := fmt.Sprintf("%d of %d failed", r.failed(), tried)
	if r.failed() == 0 {
		message = leftOut
	} else if r.overtaken.Len > 0 {
		message += ", and " + leftOut
	}
	failed := &apiclient.Error{Kind: apiclient.KindPartial, Message: message, Detail: r.wrong.texts()}
	return cli.WithHint(failed, cmp.Or(r.hint(strings.Join(failed.Detail, "\n")), r.failedHint()))
}

// againHint returns the way to send the rest. An apply that creates nothing sees by itself what was done.
func (r *rowRun) againHint() string {
	isCreating := !r.compares || r.create
	if r.kept == "" && isCreating {
		return "run it again with --results FILE to be able to go on"
	}
	return "go on with the same command"
}

// failedHint returns the way out for lines that the service did not carry out. The other lines were sent.
func (r *rowRun) failedHint() string {
	isSound := func(m bulk.Mistakes) bool {
		kind := apiclient.KindOf(m.Cause)
		return isLeftOut(m.Cause) || kind == apiclient.KindUnavailable || kind == apiclient.KindUnknownOutcome
	}
	isWrong := slices.ContainsFunc(r.wrong.first, func(m bulk.Mistakes) bool { return !isSound(m) })
	if !isWrong {
		return "the failed lines are not wrong; " + r.againHint()
	}
	if r.errors == "" {
		return "--errors FILE.csv keeps the wrong lines and their mistakes"
	}
	return ""
}

// refuse returns an error with every wrong line. Nothing is sent then.
func (r *rowRun) refuse() error {
	if err := r.wrong.write(r.errors, r.source.Rows); err != nil {
		return err
	}
	isCut := r.endsAt > 0 // The rows after the end are neither good nor known to be wrong.
	if r.failed() == 0 || r.skipWrong && !isCut {
		return nil
	}
	texts := r.wrong.texts()
	message := texts[0]
	if isCut {
		message = fmt.Sprintf("no row after line %d can be read, and nothing was sent; %s", r.endsAt, texts[0])
	} else if r.wrong.count > 1 {
		message = fmt.Sprintf("%d lines are wrong, and nothing was sent; %s", r.wrong.count, texts[0])
	}
	return cli.WithHint(cli.UsageError(message, texts...), cmp.Or(r.hint(strings.Join(texts, "\n")), r.wrongHint()))
}

// wrongHint returns the way out for lines that are wrong, where no other hint fits. Nothing was sent.
func (r *rowRun) wrongHint() string {
	if r.endsAt > 0 { // --skip-wrong would be refused.
		return ""
	}
	if r.wrong.count < r.read && r.wrong.count == 1 && !r.skipWrong {
		return "--skip-wrong leaves the line out"
	}
	if r.errors == "" && r.wrong.count > 1 {
		return "--errors FILE.csv keeps the wrong lines and their mistakes; --skip-wrong leaves them out"
	}
	return ""
}

// hint returns the way out for mistakes with these texts, or "" if there is none of their own.
func (r *rowRun) hint(text string) string {
	switch {
	case strings.Contains(text, errNotThere.Error()), strings.Contains(text, noSuchRecord):
		return "--create creates what is not there"
	case strings.Contains(text, errAmbiguous.Error()):
		return "another field in --match may settle it"
	case r.overtaken.Len > 0 && r.failed() == 0:
		return "export again and edit that, or add --force to replace what was changed"
	case strings.Contains(text, emptyCell):
		return "--empty clear clears such fields, --empty keep leaves them as they are"
	case strings.Contains(text, " uuid: is not a UUID") && r.matcher == nil && r.cmd.Flags().Lookup("match") != nil:
		return "--match email,iban,phone,name+born finds the records of rows without a UUID of this service"
	case strings.Contains(text, cannotChange):
		return "--map FIELD=- leaves such a field out; --value FIELD:THEIRS=OURS says what it is here"
	case strings.Contains(text, "personUuid: is required"):
		return "fundesk pledge list --include person shows the person"
	case strings.Contains(text, "owningOrganizationUuid: is required"):
		return "--default owningOrganizationUuid=UUID fills it in" +
			r.session.SettingHint("owning_organization", "UUID")
	case strings.Contains(text, "recruitingOrganizationUuid: is required"):
		return "--default recruitingOrganizationUuid=UUID fills it in" +
			r.session.SettingHint("recruiting_organization", "UUID")
	case strings.Contains(text, "recruitingOrganizationUuid"):
		return "--value 'recruitingOrganizationUuid:ITS-UUID=UUID' names the organization of this service"
	case strings.Contains(text, "OrganizationUuid"):
		return "--value 'owningOrganizationUuid:ITS-UUID=UUID' names the organization of this service"
	case r.country == "" && strings.Contains(text, "international format"):
		return "--country NL reads numbers as they are dialled there"
	default:
		return ""
	}
}
