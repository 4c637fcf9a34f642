import { Command } from '../../wire/frame.js';
import type { CommandRun } from '../core.js';
import { offer, withdraw } from './offer.js';
import { ping } from './ping.js';
import { query } from './query.js';
import { register } from './register.js';
import { send } from './send.js';

/** What a live session may say. HELLO, PROOF and GOODBYE belong to the session machine. */
export const commandTable: ReadonlyMap<Command, CommandRun> = new Map([
  [Command.PING, ping],
  [Command.REGISTER, register],
  [Command.OFFER, offer],
  [Command.WITHDRAW, withdraw],
  [Command.SEND, send],
  [Command.QUERY, query],
]);
