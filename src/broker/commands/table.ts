import { Command } from '../../wire/frame.js';
import type { CommandRun } from '../core.js';
import { admin } from './admin.js';
import { cancel } from './cancel.js';
import { credit } from './credit.js';
import { offer, withdraw } from './offer.js';
import { ping } from './ping.js';
import { publish } from './publish.js';
import { query } from './query.js';
import { register } from './register.js';
import { send } from './send.js';
import { take } from './take.js';
import { ack, nack, term, working } from './settle.js';

/** What a live session may say. HELLO, PROOF and GOODBYE belong to the session machine. */
export const commandTable: Readonly<Partial<Record<Command, CommandRun>>> = {
  [Command.PING]: ping,
  [Command.REGISTER]: register,
  [Command.OFFER]: offer,
  [Command.WITHDRAW]: withdraw,
  [Command.SEND]: send,
  [Command.ACK]: ack,
  [Command.NACK]: nack,
  [Command.TERM]: term,
  [Command.WORKING]: working,
  [Command.CREDIT]: credit,
  [Command.TAKE]: take,
  [Command.CANCEL]: cancel,
  [Command.PUBLISH]: publish,
  [Command.QUERY]: query,
  [Command.ADMIN]: admin,
};
