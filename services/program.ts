import { fileURLToPath } from 'node:url';
import type { Config } from '../src/config/config.js';

/** The program `sigma`, for child processes. */
export const program = fileURLToPath(new URL('../../services/cli/sigma.mjs', import.meta.url));

/** The settings as arguments of a child process. */
export function argumentsOf(config: Config): string[] {
  return ['--home', config.home, '--bus', config.bus, '--log', config.log];
}

/** The built page of the console. */
export const pageFolder = fileURLToPath(new URL('../console/', import.meta.url));
