package apitype

import "fmt"

// Parameter is a query parameter of a list, as openapi.json describes it.
type Parameter struct {
	Name   string
	Kind   string // The name of the filter, such as "uuid".
	IsList bool
	Values []string // The values that the filter offers. Nil if any is allowed.
}

// ParametersOf returns the parameters of a list, from a value of the type of its options.
func ParametersOf(options any) []Parameter {
	switch options.(type) {
	case PersonListOptions:
		return parametersOf(personParameters())
	case CallListOptions:
		return parametersOf(callParameters())
	case PledgeListOptions:
		return parametersOf(pledgeParameters())
	case ErasureListOptions:
		return parametersOf(pageFilters())
	case MissingChecksOptions:
		return parametersOf(pageFilters())
	case ChangeListOptions:
		return parametersOf(changeParameters())
	case QueueOptions:
		return parametersOf(QueueFilters())
	case QueueCallListOptions:
		return parametersOf(queueCallParameters())
	case QueueDeferralListOptions:
		return parametersOf(deferralParameters())
	case QueueLeaseListOptions:
		return parametersOf(leaseParameters())
	case QueueAgentsOptions:
		return parametersOf(agentsParameters())
	case AgentWorkOptions:
		return parametersOf(agentWorkParameters())
	default:
		panic(fmt.Sprintf("%T are not the options of a list", options))
	}
}

func parametersOf[O any](filters []Filter[O]) []Parameter {
	all := make([]Parameter, len(filters))
	for i, filter := range filters {
		f := filter.field(new(O))
		all[i] = Parameter{
			Name:   filter.Name,
			Kind:   f.kind,
			IsList: f.isList,
			Values: f.values,
		}
	}
	return all
}
