import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { mergePolicies, parseOperatorPolicy, parsePolicy, type Policy } from './classify/policy.js';
import type { Config } from '../config/config.js';
import { BusError } from '../errors/bus-error.js';

/** The policy that ships with the product: beside its code, in the sources as in what is built. */
const shipped = new URL('./classify/policy.yaml', import.meta.url);

let base: Policy | undefined;

/** With what an operator adds; empty: nothing. Throws ATTENTION_POLICY_INVALID, TOO_LARGE. */
export function loadPolicy(operatorFile = ''): Policy {
  base ??= shippedPolicy();
  if (operatorFile === '') return base;
  return mergePolicies(base, parseOperatorPolicy(read(operatorFile), operatorFile));
}

/** As the build has read and checked it; from its text where it runs from the sources. */
function shippedPolicy(): Policy {
  const read = new URL('policy.json', shipped);
  if (existsSync(read)) return JSON.parse(readFileSync(read, 'utf8')) as Policy;
  return parsePolicy(readFileSync(shipped, 'utf8'), 'policy.yaml');
}

/** The one that is in force here: an operator's is named in the settings, or is `attention.yaml` of the home. Throws as above. */
export function policyOf({ home, attention }: Pick<Config, 'home' | 'attention'>): Policy {
  const usual = path.join(home, 'attention.yaml');
  return loadPolicy(attention?.policy ?? (existsSync(usual) ? usual : ''));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const detail = `it cannot be read (${(error as NodeJS.ErrnoException).code ?? ''})`;
    throw new BusError('ATTENTION_POLICY_INVALID', { file, field: '', detail }, { cause: error });
  }
}
