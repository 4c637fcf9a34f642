import { Command } from '../../wire/frame.js';
import type { CommandRun } from '../core.js';

/** Life in both directions: the client has been silent for an interval and asks whether we still are here. */
export const ping: CommandRun = (core, session, frame) => {
  core.answer(session, frame, Command.PONG);
};
