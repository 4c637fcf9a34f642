import { Command, CommanderError } from 'commander';
import { version } from '../version.js';
import { printFailure, usage } from './output.js';

interface CommandModule {
  names: string[];
  load: () => Promise<(sigma: Command) => void>;
}

/** In the order of the help. Each is read when it is wanted: a command need not wait for the others' code. */
const modules: CommandModule[] = [
  { names: ['up'], load: async () => (await import('./bus/up.js')).addUpCommand },
  { names: ['bus'], load: async () => (await import('./bus/bus.js')).addBusCommands },
  { names: ['agent'], load: async () => (await import('./bus/agent.js')).addAgentCommands },
  {
    names: ['status', 'agents'],
    load: async () => (await import('./bus/status.js')).addStatusCommands,
  },
  { names: ['top'], load: async () => (await import('./bus/top.js')).addTopCommand },
  {
    names: ['metrics'],
    load: async () => (await import('./bus/metrics.js')).addMetricsCommand,
  },
  { names: ['audit'], load: async () => (await import('./bus/audit.js')).addAuditCommand },
  {
    names: ['index'],
    load: async () => (await import('./code/index-repo.js')).addIndexCommand,
  },
  {
    names: ['overlay'],
    load: async () => (await import('./code/overlay.js')).addOverlayCommands,
  },
  { names: ['ask', 'query'], load: async () => (await import('./code/ask.js')).addAskCommands },
  {
    names: ['lattice'],
    load: async () => (await import('./code/lattice.js')).addLatticeCommands,
  },
  { names: ['locate'], load: async () => (await import('./code/locate.js')).addLocateCommand },
  {
    names: ['callers', 'callees', 'trace'],
    load: async () => (await import('./code/graph.js')).addGraphCommands,
  },
  {
    names: ['algebra'],
    load: async () => (await import('./code/algebra.js')).addAlgebraCommand,
  },
  {
    names: ['blast-radius', 'security', 'patterns'],
    load: async () => (await import('./code/analysis.js')).addAnalysisCommands,
  },
  { names: ['verify'], load: async () => (await import('./code/verify.js')).addVerifyCommand },
  {
    names: ['delegate'],
    load: async () => (await import('./tasks/delegate.js')).addDelegateCommand,
  },
  { names: ['run'], load: async () => (await import('./tasks/run.js')).addRunCommand },
  {
    names: ['push', 'queue', 'kill'],
    load: async () => (await import('./tasks/queue.js')).addQueueCommands,
  },
  { names: ['gate'], load: async () => (await import('./tasks/gate.js')).addGateCommands },
  { names: ['task'], load: async () => (await import('./tasks/task.js')).addTaskCommands },
  {
    names: ['attend'],
    load: async () => (await import('./tasks/attend.js')).addAttendCommand,
  },
  { names: ['critic'], load: async () => (await import('./critic/critic.js')).addCriticCommand },
  { names: ['mcp'], load: async () => (await import('./bus/mcp.js')).addMcpCommand },
  { names: ['keys'], load: async () => (await import('./bus/keys.js')).addKeysCommands },
  {
    names: ['send', 'receive', 'check', 'inbox'],
    load: async () => (await import('./mail/mail.js')).addMailCommands,
  },
  { names: ['dead'], load: async () => (await import('./mail/dead.js')).addDeadCommands },
  { names: ['doctor'], load: async () => (await import('./bus/doctor.js')).addDoctorCommand },
  { names: ['error'], load: async () => (await import('./bus/error.js')).addErrorCommand },
];

/** Parses the arguments and runs one command. Every failure ends here, as a code and a sentence. */
export async function main(argv: string[]): Promise<void> {
  // A reader that goes away (`| head`) is no failure of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const form = { json: argv.includes('--json') };
  // The last resort: a bug is one coded line, not a stack trace on a user's screen.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => process.exit(printFailure(form, error)));
  }
  try {
    await (await program(argv)).parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode =
        error.exitCode === 0 ? 0 : printFailure(form, usage(error.message.replace(/^error: /, '')));
      return;
    }
    process.exitCode = printFailure(form, error);
  }
}

async function program(argv: string[]): Promise<Command> {
  const sigma = new Command('sigma')
    .description('Ask a code base of any size, with answers that can be checked.')
    .version(version)
    .helpCommand(false)
    // What stands behind a command is its own: `attend` takes options, and so do its subcommands.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    // Failures are printed by `main`, in one form.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  if (argv[2] === '--version' || argv[2] === '-V') return sigma;
  const wanted = modules.filter(({ names }) => names.includes(argv[2] ?? ''));
  for (const { load } of wanted.length > 0 ? wanted : modules) (await load())(sigma);
  sigma.allowExcessArguments().action(() => {
    const [name] = sigma.args;
    throw usage(name === undefined ? 'no command was given' : `there is no command ${name}`);
  });
  return sigma;
}
