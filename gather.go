package main

import (
	"context"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/internal/launch"
	"github.com/llxsandbox/llxsandbox/internal/runner"
	"github.com/llxsandbox/llxsandbox/platform"
)

// host is what gathering facts may do here.
func (a *app) host() platform.Host {
	return platform.Host{
		LookPath: runner.LookPath,
		Ask: func(ctx context.Context, c argv.Cmd) platform.Answer {
			stdout, stderr, code, err := a.runner.Ask(ctx, c)
			return platform.Answer{Stdout: stdout, Stderr: stderr, Code: code, Err: err}
		},
	}
}

// gather returns the checked configuration and the facts of this host: first what is
// known without a question, then the configuration, then which paths exist, then the
// answers of the engine. It changes nothing.
func (a *app) gather(flags launchFlags, args []string) (config.Config, platform.Facts, error) {
	facts, err := platform.Gather(a.host(), a.env.Get, flags.WorkDir)
	if err != nil {
		return config.Config{}, facts, err
	}
	cfg, err := a.config(flags, &facts, args)
	if err != nil || cfg.Inside != "" {
		return cfg, facts, err
	}
	if cfg.Engine == "" {
		facts.ReadSettings()
	}
	facts.Look(launch.Candidates(cfg, &facts))
	facts.FindWorktree()
	if cfg.Verbose && !cfg.Options.Private {
		facts.LookForSockets()
	}
	return cfg, facts, a.ask(cfg, &facts)
}

// ask puts the questions to the engines, in their order, until one answers.
func (a *app) ask(cfg config.Config, facts *platform.Facts) error {
	engines, _, _, err := launch.Wanted(cfg, facts)
	if err != nil {
		return err
	}
	for _, engine := range engines {
		if engine == platform.SandboxExec {
			return nil
		}
		facts.SetRootless(engine, launch.Rootless(engine, facts, a.env))
		facts.Ask(a.signals.Context(), a.host(), launch.Questions(cfg, facts, engine))
		if err := a.signals.Err(); err != nil {
			return err
		}
		if facts.Engine(engine).Problem == "" {
			return nil
		}
	}
	return nil
}

// config loads the profile and checks everything that the user says.
func (a *app) config(flags launchFlags, facts *platform.Facts, args []string) (config.Config, error) {
	var profile config.Profile
	if flags.Profile != "" {
		var err error
		if profile, err = a.profile(flags.Profile, facts); err != nil {
			return config.Config{}, err
		}
	}
	return config.Load(config.Flags(flags), a.env, profile, facts.Home, args)
}

// profile returns the named profile: of the facts if they hold it, else of its file,
// else the built-in one.
func (a *app) profile(name string, facts *platform.Facts) (config.Profile, error) {
	name, err := config.ProfileName(name)
	if err != nil {
		return config.Profile{}, err
	}
	if facts.Live && len(facts.Profiles) == 0 {
		if err := facts.ReadProfile(name); err != nil {
			return config.Profile{}, err
		}
	}
	for _, p := range facts.Profiles {
		if p.Name == name {
			return config.LoadProfile(name, p.Path, p.Text, true)
		}
	}
	return config.LoadProfile(name, "", "", false)
}
