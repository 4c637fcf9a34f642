import { Command, CommanderError } from 'commander';
import { version } from '../process.js';
import { addAgentCommands } from './commands/agent.js';
import { addAlgebraCommand } from './commands/algebra.js';
import { addAnalysisCommands } from './commands/analysis.js';
import { addAskCommands } from './commands/ask.js';
import { addAuditCommand } from './commands/audit.js';
import { addBusCommands } from './commands/bus.js';
import { addDeadCommands } from './commands/dead.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addErrorCommand } from './commands/error.js';
import { addGraphCommands } from './commands/graph.js';
import { addIndexCommand } from './commands/index-repo.js';
import { addKeysCommands } from './commands/keys.js';
import { addLatticeCommands } from './commands/lattice.js';
import { addLocateCommand } from './commands/locate.js';
import { addMailCommands } from './commands/mail.js';
import { addMetricsCommand } from './commands/metrics.js';
import { addOverlayCommands } from './commands/overlay.js';
import { addStatusCommands } from './commands/status.js';
import { addTopCommand } from './commands/top.js';
import { addUpCommand } from './commands/up.js';
import { addVerifyCommand } from './commands/verify.js';
import { printFailure, usage } from './output.js';

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
    await program().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode =
        error.exitCode === 0 ? 0 : printFailure(form, usage(error.message.replace(/^error: /, '')));
      return;
    }
    process.exitCode = printFailure(form, error);
  }
}

function program(): Command {
  const sigma = new Command('sigma')
    .description('Ask a code base of any size, with answers that can be checked.')
    .version(version)
    .helpCommand(false)
    .showSuggestionAfterError()
    // Failures are printed by `main`, in one form.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  addUpCommand(sigma);
  addBusCommands(sigma);
  addAgentCommands(sigma);
  addStatusCommands(sigma);
  addTopCommand(sigma);
  addMetricsCommand(sigma);
  addAuditCommand(sigma);
  addIndexCommand(sigma);
  addOverlayCommands(sigma);
  addAskCommands(sigma);
  addLatticeCommands(sigma);
  addLocateCommand(sigma);
  addGraphCommands(sigma);
  addAlgebraCommand(sigma);
  addAnalysisCommands(sigma);
  addVerifyCommand(sigma);
  addKeysCommands(sigma);
  addMailCommands(sigma);
  addDeadCommands(sigma);
  addDoctorCommand(sigma);
  addErrorCommand(sigma);
  sigma.allowExcessArguments().action(() => {
    const [name] = sigma.args;
    throw usage(name === undefined ? 'no command was given' : `there is no command ${name}`);
  });
  return sigma;
}
