import type { Command } from 'commander';
import type { Call, Reply } from '../../src/operations/operation.js';
import type { CommonOptions } from './options.js';

/** What one command does besides on a terminal, or with flags of its own. */
export interface Terminal {
  adds?(command: Command): Command;
  /** Does what such a flag asks for, and says that it did. */
  instead?(given: readonly unknown[], options: CommonOptions): Promise<boolean>;
  /** Goes on with a person before the terminal, from what was answered. */
  dialogue?: () => Promise<Dialogue>;
}

export interface Dialogue {
  /** Resolves to what is left to print. Each knows the answers of its own operation. */
  // oxlint-disable-next-line typescript/no-explicit-any
  goOn(reply: Reply<any>, call: Call, input: object): Promise<Reply<any> | undefined>;
}
