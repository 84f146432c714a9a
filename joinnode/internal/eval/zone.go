package eval

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // gateways often have no zoneinfo
)

// ErrZone is returned for a name that is no time zone.
var ErrZone = errors.New("unknown time zone")

// LoadZone returns the zone of that name in the IANA database, such as
// Europe/Berlin or UTC. The machine's own zone ("Local") is none: results must not
// depend on where they are computed.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%w %q: use a name such as Europe/Berlin or UTC", ErrZone, name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w %q: use a name such as Europe/Berlin or UTC", ErrZone, name)
	}
	return zone, nil
}
