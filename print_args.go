package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/internal/launch"
	"github.com/llxsandbox/llxsandbox/platform"
)

// Run prints the plan. With --facts it reads nothing of this host but that file.
func (c *printArgsCmd) Run(a *app) error {
	if c.Platform != "" && c.FactsFile == "" {
		return &argv.Fatal{Text: "--platform needs --facts", Hint: "a plan for another platform needs the facts of a host of that kind: llxsandbox facts > facts.json", Usage: true}
	}
	if c.NUL && c.Format != "argv" {
		return &argv.Fatal{Text: "-0 needs --format argv", Hint: "add --format argv", Usage: true}
	}
	gather := func() (config.Config, platform.Facts, error) { return a.gather(c.launchFlags, agentArgs(c.Args)) }
	if c.FactsFile != "" {
		gather = c.fromFile(a)
	}
	cfg, facts, err := gather()
	if err != nil {
		return err
	}
	l, err := launch.Plan(cfg, &facts)
	if err != nil {
		return err
	}
	if err := argv.Check(l.Plan); err != nil {
		return err
	}
	plan := l.Plan
	if c.ShowSecrets {
		plan = plan.WithSecrets()
	}
	return c.print(plan, l.Engine, facts.OS)
}

func (c *printArgsCmd) print(plan argv.Plan, engine, platform string) error {
	switch c.Format {
	case "json":
		data, err := plan.JSON(engine, platform)
		if err != nil {
			return err
		}
		return write(string(data) + "\n")
	case "argv":
		end := "\n"
		if c.NUL {
			end = "\x00"
		}
		return write(strings.Join(plan.Main().Cmd.Args, end) + end)
	}
	return write(plan.Shell())
}

// write prints a result to standard output.
func write(text string) error {
	_, err := io.WriteString(os.Stdout, text)
	return err
}

// fromFile reads the facts from the file instead of the host.
func (c *printArgsCmd) fromFile(a *app) func() (config.Config, platform.Facts, error) {
	return func() (config.Config, platform.Facts, error) {
		fail := func(err error) (config.Config, platform.Facts, error) {
			return config.Config{}, platform.Facts{}, &argv.Fatal{Text: fmt.Sprintf("--facts %s: %v", c.FactsFile, err), Hint: "`llxsandbox facts` writes such a file", Usage: true}
		}
		data, err := readAll(c.FactsFile)
		if err != nil {
			return fail(err)
		}
		facts, err := platform.ReadFacts(data)
		if err != nil {
			return fail(err)
		}
		if c.Platform != "" {
			facts.OS = c.Platform
		}
		if c.WorkDir != "" {
			if !facts.Abs(c.WorkDir) {
				return fail(errors.New("--workdir must be an absolute path here"))
			}
			facts.WorkDir = c.WorkDir
		}
		cfg, err := a.config(c.launchFlags, &facts, agentArgs(c.Args))
		return cfg, facts, err
	}
}

func readAll(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}
