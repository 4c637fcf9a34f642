import { Command, CommanderError } from 'commander';
import { version } from '../version.js';
import { registry } from '../../src/operations/registry.js';
import { printFailure, usage } from './output.js';

type AddCommands = (sigma: Command) => void;

/** Each is read when it is wanted: a command need not wait for the others' code. */
const modules: [names: string, load: () => Promise<AddCommands>][] = [
  ['up', async () => (await import('./bus/up.js')).addUpCommand],
  ['index', async () => (await import('./code/index-repo.js')).addIndexCommand],
  ['export', async () => (await import('./code/export-index.js')).addExportCommand],
  ['setup', async () => (await import('./setup/setup.js')).addSetupCommand],
  ['doctor', async () => (await import('./bus/doctor.js')).addDoctorCommand],
  ['error', async () => (await import('./bus/error.js')).addErrorCommand],
  ['overlay', async () => (await import('./code/overlay.js')).addOverlayCommands],
  ['lattice', async () => (await import('./code/lattice.js')).addLatticeCommands],
  ['critic', async () => (await import('./critic/critic.js')).addCriticCommand],
  ['bus', async () => (await import('./bus/bus.js')).addBusCommands],
  ['agent', async () => (await import('./bus/agent.js')).addAgentCommands],
  ['status', async () => (await import('./bus/status.js')).addStatusCommand],
  ['top', async () => (await import('./bus/top.js')).addTopCommand],
  ['metrics', async () => (await import('./bus/metrics.js')).addMetricsCommand],
  ['audit', async () => (await import('./bus/audit.js')).addAuditCommand],
  ['keys', async () => (await import('./bus/keys.js')).addKeysCommands],
  ['console', async () => (await import('./bus/console.js')).addConsoleCommand],
  ['mcp', async () => (await import('./bus/mcp.js')).addMcpCommand],
  [
    'completion manual',
    async () => (await import('./manual/manual.js')).manualCommands(() => program([])),
  ],
  ['a2a', async () => (await import('./bus/a2a.js')).addA2aCommand],
  ['gateway', async () => (await import('./bus/gateway.js')).addGatewayCommand],
];

/** The help in parts, each in this order. */
const helpGroups: Record<string, string> = {
  'Start:': 'up index setup export doctor error completion manual',
  'Ask about code:':
    'explore symbol ask query lattice callers references callees implementations trace blast-radius security patterns algebra locate verify overlay',
  'Tasks:': 'delegate run push queue kill task gate attend critic',
  'Messages:': 'send receive check inbox dead',
  'Run the bus:': 'agents status console bus agent top metrics audit keys mcp a2a gateway',
};

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
        error.exitCode === 0
          ? 0
          : printFailure(form, usage(error.message.replace(/^error: /, '').replaceAll('\n', ' ')));
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
  const isWanted = (names: string): boolean =>
    argv[2] !== undefined && names.split(' ').includes(argv[2]);
  const own = modules.filter(([names]) => isWanted(names));
  const derived = registry.filter(({ commands }) => isWanted(commands));
  const isKnown = own.length + derived.length > 0;
  for (const [, load] of isKnown ? own : modules) (await load())(sigma);
  const operations = isKnown ? derived : registry;
  if (operations.length > 0) {
    const { addOperation } = await import('./operation.js');
    for (const { load } of operations)
      for (const each of await load()) if (each.cli !== undefined) addOperation(sigma, each);
  }
  grouped(sigma);
  sigma.allowExcessArguments().action(() => {
    const [name] = sigma.args;
    throw usage(name === undefined ? 'no command was given' : `there is no command ${name}`);
  });
  return sigma;
}

/** The order of the commands is that of the help. */
function grouped(sigma: Command): void {
  const names = Object.values(helpGroups).flatMap((each) => each.split(' '));
  const placeOf = (command: Command): number => names.indexOf(command.name());
  (sigma.commands as Command[]).sort((one, other) => placeOf(one) - placeOf(other));
  for (const command of sigma.commands) {
    const [heading] =
      Object.entries(helpGroups).find(([, all]) => all.split(' ').includes(command.name())) ?? [];
    if (heading !== undefined) command.helpGroup(heading);
  }
}
