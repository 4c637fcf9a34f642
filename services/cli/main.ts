import { Command, CommanderError } from 'commander';
import { version } from '../version.js';
import type { AnyOperation } from './operation.js';
import { printFailure, usage } from './output.js';

type AddCommands = (sigma: Command) => void;

/** In the order of the help. Each is read when it is wanted: a command need not wait for the others' code. */
const modules: [names: string, load: () => Promise<AddCommands>][] = [
  ['up', async () => (await import('./bus/up.js')).addUpCommand],
  ['bus', async () => (await import('./bus/bus.js')).addBusCommands],
  ['agent', async () => (await import('./bus/agent.js')).addAgentCommands],
  ['status', async () => (await import('./bus/status.js')).addStatusCommand],
  ['agents', derived(async () => [(await import('../../src/operations/agents.js')).listAgents])],
  ['top', async () => (await import('./bus/top.js')).addTopCommand],
  ['metrics', async () => (await import('./bus/metrics.js')).addMetricsCommand],
  ['audit', async () => (await import('./bus/audit.js')).addAuditCommand],
  ['index', async () => (await import('./code/index-repo.js')).addIndexCommand],
  ['overlay', async () => (await import('./code/overlay.js')).addOverlayCommands],
  [
    'ask query',
    derived(async () => {
      const { ask, queryAgent } = await import('../../src/operations/ask.js');
      return [ask, queryAgent];
    }),
  ],
  ['lattice', latticeCommands],
  ['locate', async () => (await import('./code/locate.js')).addLocateCommand],
  [
    'callers callees trace',
    derived(async () => {
      const { callers, callees, trace } = await import('../../src/operations/graph.js');
      return [callers, callees, trace];
    }),
  ],
  [
    'algebra blast-radius security patterns',
    derived(async () => {
      const its = await import('../../src/operations/analysis.js');
      return [its.algebra, its.blastRadius, its.securityBlastRadius, its.patterns];
    }),
  ],
  ['verify', async () => (await import('./code/verify.js')).addVerifyCommand],
  ['delegate', async () => (await import('./tasks/delegate.js')).addDelegateCommand],
  ['run', async () => (await import('./tasks/run.js')).addRunCommand],
  ['push', async () => (await import('./tasks/push.js')).addPushCommand],
  [
    'queue kill',
    derived(async () => {
      const { queue, queueRun, kill } = await import('../../src/operations/queue.js');
      return [queue, queueRun, kill];
    }),
  ],
  ['gate', async () => (await import('./tasks/gate.js')).addGateCommands],
  ['task', async () => (await import('./tasks/task.js')).addTaskCommands],
  ['attend', async () => (await import('./tasks/attend.js')).addAttendCommand],
  ['critic', async () => (await import('./critic/critic.js')).addCriticCommand],
  ['mcp', async () => (await import('./bus/mcp.js')).addMcpCommand],
  ['keys', async () => (await import('./bus/keys.js')).addKeysCommands],
  ['send receive check inbox', async () => (await import('./mail/mail.js')).addMailCommands],
  ['dead', async () => (await import('./mail/dead.js')).addDeadCommands],
  ['doctor', async () => (await import('./bus/doctor.js')).addDoctorCommand],
  ['error', async () => (await import('./bus/error.js')).addErrorCommand],
];

/** Commands that are operations and nothing more. */
function derived(load: () => Promise<AnyOperation[]>): () => Promise<AddCommands> {
  return async () => {
    const [{ addOperation }, operations] = await Promise.all([import('./operation.js'), load()]);
    return (sigma) => {
      for (const each of operations) addOperation(sigma, each);
    };
  };
}

/** Below one name stand a command of its own and operations. */
async function latticeCommands(): Promise<AddCommands> {
  const { addLatticeCommands } = await import('./code/lattice.js');
  const addOperations = await derived(async () => {
    const { topology, latticePath } = await import('../../src/operations/topology.js');
    const { queryLattice } = await import('../../src/operations/ask.js');
    return [topology, latticePath, queryLattice];
  })();
  return (sigma) => {
    addLatticeCommands(sigma);
    addOperations(sigma);
  };
}

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
  const wanted = modules.filter(([names]) => names.split(' ').includes(argv[2] ?? ''));
  for (const [, load] of wanted.length > 0 ? wanted : modules) (await load())(sigma);
  sigma.allowExcessArguments().action(() => {
    const [name] = sigma.args;
    throw usage(name === undefined ? 'no command was given' : `there is no command ${name}`);
  });
  return sigma;
}
