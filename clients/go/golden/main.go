// Golden is the driver of the golden cases: it does with the client what lines of JSON on its standard input say, side by side, and tells
// on its standard output what came of it. Its argument is the server's address. After the word `worker` it is a worker instead: then its
// arguments are the server's address and the ledger.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"clew.dev/clew"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		most, err := workTime()
		if err == nil {
			err = work(os.Args[2], os.Args[3], most)
		}
		if err != nil {
			fail(err)
		}
		return
	}
	if len(os.Args) != 2 {
		fail(errors.New("the server's address is due"))
	}
	client, err := clew.NewClient(os.Args[1])
	if err != nil {
		fail(err)
	}
	driver := &driver{client: client, calls: map[int]*call{}, out: os.Stdout}
	if err := driver.run(os.Stdin); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "golden:", err)
	os.Exit(1)
}

// A driver does what it is told; each thing in a goroutine of its own.
type driver struct {
	mu     sync.Mutex
	client *clew.Client
	calls  map[int]*call

	writing sync.Mutex
	out     io.Writer
}

// A call is one thing that is under way.
type call struct {
	told   told
	ctx    context.Context
	leave  context.CancelFunc
	ended  chan struct{}
	gate   gate
	say    func(answer)
	client *clew.Client
}

// An answer is what is said of a call: one of the keys that the protocol names.
type answer map[string]any

// run does what the lines say until there are no more. What is under way then is given up.
func (d *driver) run(lines io.Reader) error {
	reader := bufio.NewReaderSize(lines, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var said told
		if err := json.Unmarshal(line, &said); err != nil {
			return err
		}
		begun := d.begin(said)
		go func() {
			defer close(begun.ended)
			begun.say(d.do(begun))
		}()
	}
}

func (d *driver) begin(said told) *call {
	ctx, leave := context.WithCancel(context.Background())
	begun := &call{told: said, ctx: ctx, leave: leave, ended: make(chan struct{})}
	begun.say = func(what answer) { d.write(said.ID, what) }
	d.mu.Lock()
	defer d.mu.Unlock()
	begun.client = d.client
	d.calls[said.ID] = begun
	return begun
}

func (d *driver) call(id int) *call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[id]
}

func (d *driver) write(id int, what answer) {
	what["id"] = id
	line, err := json.Marshal(what)
	if err != nil {
		fail(err)
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	if _, err := d.out.Write(append(line, '\n')); err != nil {
		fail(err)
	}
}

// do does one thing to its end.
func (d *driver) do(begun *call) answer {
	switch begun.told.Op {
	case "leave":
		other := d.call(begun.told.Of)
		other.leave()
		<-other.ended
		return answer{"result": nil}
	case "hold":
		d.call(begun.told.Of).gate.close()
		return answer{"result": nil}
	case "read_on":
		d.call(begun.told.Of).gate.open()
		return answer{"result": nil}
	case "connect":
		return d.connect(begun.told)
	}
	ctx := begun.ctx
	if begun.told.Timeout != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, seconds(*begun.told.Timeout))
		defer cancel()
	}
	what, err := begun.outcome(ctx)
	if err != nil && errors.Is(begun.ctx.Err(), context.Canceled) {
		return answer{"left": true}
	}
	if err != nil {
		return answer{"error": errorText(err)}
	}
	return what
}

func (d *driver) connect(said told) answer {
	options := []clew.ClientOption{}
	for name, option := range timeOptions {
		if given, ok := said.Times[name]; ok {
			options = append(options, option(seconds(given)))
		}
	}
	client, err := clew.NewClient(said.Target, options...)
	if err != nil {
		return answer{"error": errorText(err)}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.client = client
	return answer{"result": nil}
}
