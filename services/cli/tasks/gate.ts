import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import {
  attentionLimits,
  judgements,
  signals,
  type Gate,
  type Judgement,
} from '../../../src/attention/shapes.js';
import { withClient } from '../connect.js';
import { Gates, gatesListedMax } from '../../../src/remote/gates.js';
import { configOf, handingOn, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';
import { renderApprovals, renderGate, renderGates, waysToJudge } from '../../../src/render/gate.js';

const said: Readonly<Record<Judgement, string>> = {
  approve: 'run it, and allow the same action for the rest of its session',
  dismiss: 'run it this once; ask again next time',
  modify: 'do something else instead; that is classified again',
  halt: 'do not run it: end its task and block what depends on it',
  withdraw: 'end all open tasks of its session',
};

/** `gate [list|show|approve|dismiss|modify|halt|withdraw|approvals|missed]`. */
export function addGateCommands(sigma: Command): void {
  const gate = handingOn(withCommon(sigma.command('gate'))).description(
    'judge risky actions that wait; on a terminal one after the other',
  );
  gate.action(walk);

  withCommon(gate.command('list'))
    .description('list open gates')
    .option('--all', 'also judged, expired and void gates')
    .option('--session <name>', 'only of this session', '')
    .option('--limit <n>', 'most rows', wholeNumber(1, gatesListedMax), gatesListedMax)
    .action(async (options: CommonOptions & { all?: boolean; session: string; limit: number }) => {
      const { session, limit } = options;
      const found = await withGates(options, (gates) =>
        gates.list({ session, isAll: options.all === true }, limit),
      );
      print(options, found, () => renderGates(found.gates, found.more));
    });

  withCommon(gate.command('show').argument('<id>'))
    .description('show the exact action of a gate, and its risks')
    .action(async (id: string, options: CommonOptions) => {
      const found = await withGates(options, (gates) => gates.show(id));
      print(options, found, () => [renderGate(found), ...waysToJudge(found)].join('\n'));
    });

  for (const judgement of judgements) addJudgement(gate, judgement);

  withCommon(gate.command('approvals'))
    .description('list the approvals in force')
    .option('--session <name>', 'only of this session', '')
    .option('--revoke', 'revoke them')
    .action(async (options: CommonOptions & { session: string; revoke?: boolean }) => {
      const query = { session: options.session, is_revoked: options.revoke === true };
      const found = await withGates(options, (gates) => gates.approvals(query));
      print(options, { approvals: found }, () =>
        query.is_revoked ? `${found.length} approvals were taken back.` : renderApprovals(found),
      );
    });

  withCommon(gate.command('missed').argument('<task>'))
    .description(
      'report a risk that was not noticed; the counts show where the policy should change',
    )
    .requiredOption('--signal <name>', signals.join(', '))
    .option('--why <text>', 'what happened', '')
    .action(async (task: string, options: CommonOptions & { signal: string; why: string }) => {
      const signal = signals.find((each) => each === options.signal);
      if (signal === undefined) throw usage(`a signal is one of ${signals.join(', ')}`);
      await withGates(options, (gates) => gates.missed({ task, signal, text: options.why }));
      print(options, { task, signal }, () => `Counted: ${signal}.`);
    });
}

function addJudgement(gate: Command, judgement: Judgement): void {
  const command = withCommon(gate.command(judgement).argument('<id>')).description(said[judgement]);
  if (judgement === 'modify')
    command.requiredOption(
      '--direction <text>',
      'what to do instead, in words, or {"argv": […]} as JSON',
    );
  command.action(async (id: string, options: CommonOptions & { direction?: string }) => {
    const { direction = '' } = options;
    const now = await withGates(options, async (gates) => {
      const shown = await gates.show(id);
      return gates.judge(shown, { judgement, direction });
    });
    print(options, now, () => toldOf(now));
  });
}

/** Each open gate is shown and judged; without a terminal they are listed. */
async function walk(options: CommonOptions): Promise<void> {
  await withGates(options, async (gates) => {
    const found = await gates.list();
    const canAsk = options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
    if (!canAsk || found.gates.length === 0)
      return print(options, found, () => renderGates(found.gates, found.more));
    for (const each of found.gates) {
      process.stdout.write(`${renderGate(each)}\n`);
      const answer = await judgementFor(each);
      if (answer === undefined) return void process.stdout.write('\nThe rest was not judged.\n');
      if (answer === 'skip') continue;
      try {
        process.stdout.write(`${toldOf(await gates.judge(each, answer))}\n\n`);
      } catch (error) {
        // Another person was faster, or the words were not understood: the other gates still wait.
        process.stdout.write(`${printable(error instanceof Error ? error.message : '')}\n\n`);
      }
    }
  });
}

type Answer = { judgement: Judgement; direction: string };

/** A judgement is its word or its first letter. Undefined: the input has ended. */
async function judgementFor({ classification }: Gate): Promise<Answer | 'skip' | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined));
    lines.once('SIGINT', () => lines.close());
  });
  const ask = (question: string): Promise<string | undefined> =>
    Promise.race([lines.question(question), closed]);
  try {
    const once = classification.is_cacheable ? '' : ' (is not remembered)';
    for (;;) {
      const line = await ask(
        `\n[a]pprove${once} · [d]ismiss · [m]odify · [h]alt · [w]ithdraw · [s]kip? `,
      );
      if (line === undefined) return undefined;
      const word = line.trim().toLowerCase();
      if (word === 's' || word === 'skip') return 'skip';
      const judgement = judgements.find((each) => each === word || each[0] === word);
      if (judgement === undefined) continue;
      if (judgement !== 'modify') return { judgement, direction: '' };
      const direction = await ask('What instead? ');
      if (direction === undefined) return undefined;
      return { judgement, direction: direction.slice(0, attentionLimits.directionChars) };
    }
  } finally {
    lines.close();
  }
}

function toldOf({ id, judgement, judged_by }: Gate): string {
  return printable(`${id}: ${judgement} by ${judged_by}`);
}

function withGates<T>(options: CommonOptions, work: (gates: Gates) => Promise<T>): Promise<T> {
  return withClient(configOf(options), (client) => work(new Gates(client)));
}
