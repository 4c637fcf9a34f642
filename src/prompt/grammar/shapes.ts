/**
 * A prompt as it was understood. Sources of the rules: the design document of prompt processing (its three phases, `/read`,
 * `/push`, `/run`), and the decisions in README.md where it is silent.
 */

/** Limits of a prompt. Beyond them it is refused as a whole: nothing is cut. */
export const promptLimits = {
  /** Of the whole text, in UTF-8. Beyond: TOO_LARGE; beyond the others: PROMPT_INVALID at the place. */
  bytes: 262_144,
  /** Commands of both edges. */
  commands: 64,
  /** Of one line that is a command: twice a pushed prompt, for escapes, and room for options. */
  lineChars: 33_000,
  /** Of what `/push` queues: as much as a task may say. */
  pushedChars: 16_000,
  pathChars: 4_096,
  /** As of a task. */
  nameChars: 64,
  modelChars: 200,
  /** One day. */
  timeoutSeconds: 86_400,
  /** Tasks that one `/run` starts, and the standing limit that it may set. */
  count: 1_000,
  concurrency: 1_000,
  /** Limit of reported problems. */
  problems: 20,
} as const;

/** Both from 1; columns in characters (code points). A column may be the one behind the last character of its line. */
export interface Place {
  line: number;
  column: number;
}

export interface ReadCommand extends Place {
  command: 'read';
  /** As written, without quotes. */
  path: string;
}

export interface PushCommand extends Place {
  command: 'push';
  prompt: string;
  /** Empty: the queue makes one. */
  name: string;
  /** Empty: that of the caller. */
  model: string;
  /** 0: the usual one. */
  timeoutMs: number;
}

export interface RunCommand extends Place {
  command: 'run';
  /** Start so many at most, now; 0: all that are queued. */
  count: number;
  /** 0: the usual one. */
  timeoutMs: number;
  /** So many at a time, from now on; 0: as it is. */
  concurrency: number;
}

export type Command = ReadCommand | PushCommand | RunCommand;

export interface Prompt {
  /** In order, before anything is asked of a model. */
  setup: Command[];
  /** Empty: there is nothing to ask. Lines end in `\n`; neither the first nor the last is blank. */
  content: string;
  /** In order, after the model has ended. */
  teardown: PushCommand[];
}

/** An error at a place: what was expected there. */
export interface Problem extends Place {
  expected: string;
}
