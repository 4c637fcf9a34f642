import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/config.js';
import {
  escalationBytesMax,
  parseEscalation,
  withOperators,
  type EscalationPolicy,
} from './escalation.js';
import { BusError } from '../../errors/bus-error.js';

/** The rules that ship with the product: beside their code, in the sources as in what is built. */
const shipped = new URL('./escalation.yaml', import.meta.url);

let base: EscalationPolicy | undefined;

/** With what an operator adds; empty: nothing. Throws CRITIC_POLICY_INVALID, TOO_LARGE. */
export function loadEscalation(operatorFile = ''): EscalationPolicy {
  base ??= parseEscalation(readFileSync(shipped, 'utf8'), 'escalation.yaml');
  if (operatorFile === '') return base;
  return withOperators(base, parseEscalation(read(operatorFile), operatorFile));
}

/** Those in force here: an operator's are named in the settings, or are `escalation.yaml` of the home. Throws as above. */
export function escalationOf({ home, critic }: Pick<Config, 'home' | 'critic'>): EscalationPolicy {
  const usual = path.join(home, 'escalation.yaml');
  return loadEscalation(critic?.escalation ?? (existsSync(usual) ? usual : ''));
}

/** No further than shows that it is too large. */
function read(file: string): string {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const bytes = Buffer.alloc(escalationBytesMax + 1);
    let filled = 0;
    for (let taken = -1; taken !== 0 && filled < bytes.length; filled += taken)
      taken = readSync(handle, bytes, filled, bytes.length - filled, null);
    return bytes.toString('utf8', 0, filled);
  } catch (error) {
    const detail = `it cannot be read (${(error as NodeJS.ErrnoException).code ?? ''})`;
    throw new BusError('CRITIC_POLICY_INVALID', { file, detail }, { cause: error });
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
