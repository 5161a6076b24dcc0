// Sends requests that do not wait for each other's answers, by Vegeta, and prints Vegeta's own report as a line of JSON; then when each
// request was sent and how long its answer took, in microseconds. Vegeta's command spaces requests evenly; those of many independent
// users come at random, which is what is added here.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// randomPacer spaces hits by exponentially distributed gaps: a Poisson process.
type randomPacer struct {
	perSecond float64
	random    *rand.Rand
	next      time.Duration
}

// Pace is asked once for each hit, so each call draws a gap.
func (p *randomPacer) Pace(elapsed time.Duration, _ uint64) (time.Duration, bool) {
	p.next += time.Duration(p.random.ExpFloat64() / p.perSecond * float64(time.Second))
	if p.next < elapsed {
		return 0, false
	}
	return p.next - elapsed, false
}

func (p *randomPacer) Rate(time.Duration) float64 { return p.perSecond }

func evenPacer(perSecond float64) vegeta.Pacer {
	const thousandths = 1000
	return vegeta.ConstantPacer{Freq: int(perSecond*thousandths + 0.5), Per: thousandths * time.Second}
}

func run() error {
	targets := flag.String("targets", "", "file of Vegeta's http format; taken in turn")
	perSecond := flag.Float64("rate", 0, "requests a second")
	seconds := flag.Float64("seconds", 10, "how long")
	arrivals := flag.String("arrivals", "random", "random or even")
	seed := flag.Int64("seed", 1, "of random arrivals")
	flag.Parse()
	if *perSecond < 0.01 || *seconds <= 0 || (*arrivals != "random" && *arrivals != "even") {
		return fmt.Errorf("a rate, seconds above 0, and arrivals that are random or even are needed")
	}

	file, err := os.Open(*targets)
	if err != nil {
		return err
	}
	defer file.Close()
	list, err := vegeta.ReadAllTargets(vegeta.NewHTTPTargeter(file, nil, nil))
	if err != nil {
		return err
	}

	pacer := evenPacer(*perSecond)
	if *arrivals == "random" {
		pacer = &randomPacer{perSecond: *perSecond, random: rand.New(rand.NewSource(*seed))}
	}
	var metrics vegeta.Metrics
	var answers [][2]int64
	var begin time.Time
	attacker := vegeta.NewAttacker(vegeta.Timeout(30 * time.Second))
	for result := range attacker.Attack(vegeta.NewStaticTargeter(list...), pacer, time.Duration(*seconds*float64(time.Second)), "") {
		metrics.Add(result)
		if begin.IsZero() {
			begin = result.Timestamp
		}
		answers = append(answers, [2]int64{result.Timestamp.Sub(begin).Microseconds(), result.Latency.Microseconds()})
	}
	metrics.Close()
	if err := vegeta.NewJSONReporter(&metrics).Report(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "open_loop:", err)
		os.Exit(1)
	}
}
