package clew

import "time"

// patience is how long a broken stream is tried again, and how soon.
type patience struct {
	settings *settings
	since    time.Time
	limit    time.Duration
	tries    int
}

func newPatience(settings *settings, now time.Time) *patience {
	return &patience{settings: settings, since: now, limit: settings.connectTimeout}
}

// heard says that something came.
func (p *patience) heard(now time.Time) {
	p.since, p.limit, p.tries = now, p.settings.rejoinTimeout, 0
}

// pause is how long to wait before the next try; false when there has been no word for too long.
func (p *patience) pause(now time.Time) (time.Duration, bool) {
	pause := min(longestPause, firstPause<<min(p.tries, 16))
	p.tries++
	return pause, !now.Add(pause).After(p.since.Add(p.limit))
}
