import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../src/config/config.js';
import {
  parseEscalation,
  withOperators,
  type EscalationPolicy,
} from '../../src/critic/select/escalation.js';
import { BusError } from '../../src/errors/bus-error.js';

/** The rules that ship with the product: beside their code, in the sources as in what is built. */
const shipped = new URL('../../src/critic/select/escalation.yaml', import.meta.url);

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

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const detail = `it cannot be read (${(error as NodeJS.ErrnoException).code ?? ''})`;
    throw new BusError('CRITIC_POLICY_INVALID', { file, detail }, { cause: error });
  }
}
