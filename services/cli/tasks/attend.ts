import type { Terminal } from '../terminal.js';
import type { ClassifyOptions } from './attend-classify.js';

/** `attend --classify`: how risky actions are; no session. */
export const classifying: Terminal = {
  adds: (command) =>
    command
      .option(
        '--classify',
        'classify the risk of actions; run nothing. Instead of an intent name a JSON Lines file of {id, argv or command, cwd, env, stdin}; - reads standard input. --json prints one document, otherwise a table, or a line of JSON each where it is no terminal',
      )
      .option(
        '--root <dir>',
        'classify: folder in which they would run; its scripts and its git settings are read. Without it they are asked about',
      )
      .option(
        '--policy <file>',
        "classify: an operator's policy, merged with the one of the product: the stricter wins",
      )
      .option('--explain', 'classify: print every step on standard error')
      .addHelpText(
        'after',
        '\nExit code of --classify: 0 all may run, 1 a gate or a line that is not an action, 2 wrong usage or policy.',
      ),
  instead: async ([file], options: ClassifyOptions) => {
    if (options.classify !== true) return false;
    const { classifyAll } = await import('./attend-classify.js');
    await classifyAll(typeof file === 'string' ? file : '-', options);
    return true;
  },
};
