import {
  gateIn,
  lostGate,
  reportedBy,
  statedGate,
  type GateBlock,
  type Quoted,
} from '../../attention/gate-block.js';
import { approvedWords, gateInstructions } from '../../attention/gate-words.js';
import { newId } from '../../base/ids.js';
import { parseJson } from '../../delegation/task/json.js';
import { isOnlyAsked } from '../../base/asked.js';
import type { DelegatedTask } from '../../delegation/task/shapes.js';
import type { Outcome } from '../../delegation/worker/runner-outcome.js';
import { promptOf, rulesFor } from '../../delegation/worker/task-prompt.js';
import { BusError } from '../../errors/bus-error.js';
import { stopOf } from '../attendant.js';
import { ChangeWatch, doubtsOf, type Seen } from '../changes.js';
import { runGuarded, type ChildEnd } from '../guarded-child.js';
import { outcomeOf } from './agent-answer.js';
import { assertStarted, toldIn, type CommandSettings } from './command.js';
import { wallsIn } from '../sandbox.js';
import { environmentFor, folderBelow } from './place.js';
import type { Runner } from './runner.js';

/** An agent may print a whole response with its evidence. */
const stdoutBytesMax = 512 * 1024;
const stderrBytesMax = 8 * 1024;

/**
 * A foreign agent, started as the configuration says: the task on stdin, its result on stdout. It learns when
 * to stop for a person, unless it `attends` by itself; either way what it prints is searched for a stop.
 */
export function agentRunner(
  { root, environment, env, sandbox }: CommandSettings,
  argv: readonly string[],
  attends = false,
): Runner {
  return async (turn) => {
    const { task, signal, progress } = turn;
    const walls = wallsIn(sandbox);
    const mark = newId('data');
    const prompt = promptOf(task, { ...turn, mark });
    const words = [
      rulesFor(prompt.sources.length),
      attends ? '' : gateInstructions(),
      prompt.text,
      ...(turn.approved ?? []).map(approvedWords),
    ];
    const stdin = `${words.filter((each) => each !== '').join('\n\n')}\n`;
    const cwd = await folderBelow(root, task.action?.cwd ?? '');
    progress(`${argv[0] ?? 'the agent'} works`);
    await using watch = await ChangeWatch.open(cwd, walls);
    const end = await runGuarded(
      {
        argv,
        cwd,
        env: environmentFor(env, environment, toldIn(turn, '')),
        stdin,
        walls,
        unchanged: turn.unchanged,
        stdoutMax: stdoutBytesMax,
        stderrMax: stderrBytesMax,
        watch: 'GATE_DETECTED',
        onOutput: (bytes) => progress(`${argv[0] ?? 'the agent'} works, ${bytes} bytes of output`),
      },
      signal,
    );
    assertStarted(task.id, end);
    const { contextBytes } = prompt;
    const quoted = { given: [stdin, ...words], mark };
    const stop = end.isStopped ? undefined : stopIn(end, quoted);
    if (stop === undefined) {
      const came = outcomeOf(argv[0] ?? '', end, prompt.sources);
      return {
        ...held(task, came, await watch?.seen({ isAgain: turn.attempt > 1 })),
        contextBytes,
      };
    }
    const classification = reportedBy(task.id, argv[0] ?? '', stop);
    return stopOf(classification, { result: end.stdout.trim(), contextBytes });
  };
}

/** It says that it stopped, in the block of the protocol or in a response, with any exit code. */
function stopIn({ stdout, isWatched }: ChildEnd, quoted: Quoted): GateBlock | undefined {
  const { status, reason, result, errors } = parseJson(stdout);
  if (status === 'blocked' && reason === 'GATE_DETECTED') {
    const told: unknown[] = Array.isArray(errors) ? errors : [];
    const texts = [result, ...told.map((each) => (each as { text?: unknown } | null)?.text)];
    return statedGate(
      texts.filter((each) => typeof each === 'string'),
      quoted,
    );
  }
  return gateIn(stdout, quoted) ?? (isWatched ? lostGate() : undefined);
}

/** What it says, held against what was changed. A question need not change anything. */
function held({ task, kind }: DelegatedTask, came: Outcome, seen: Seen | undefined): Outcome {
  const files = seen?.files ?? came.files;
  if (came.kind !== 'finished' || kind === 'question' || isOnlyAsked(task))
    return { ...came, files };
  const objections =
    seen === undefined
      ? [new BusError('CHANGES_UNSEEN')]
      : doubtsOf(came.result, seen).map((detail) => new BusError('CHANGE_DOUBTED', { detail }));
  const errors = objections.map(({ code, message: text, retryable }) => ({
    ...{ code, text, retryable },
  }));
  return { ...came, files, errors: [...came.errors, ...errors] };
}
