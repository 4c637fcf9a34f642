import { readFileSync } from 'node:fs';
import {
  mergePolicies,
  parseOperatorPolicy,
  parsePolicy,
  type Policy,
} from '../../src/attention/classify/policy.js';
import { BusError } from '../../src/errors/bus-error.js';

/** The policy that ships with the product: beside its code, in the sources as in what is built. */
const shipped = new URL('../../src/attention/classify/policy.yaml', import.meta.url);

let base: Policy | undefined;

/** With what an operator adds; empty: nothing. Throws ATTENTION_POLICY_INVALID, TOO_LARGE. */
export function loadPolicy(operatorFile = ''): Policy {
  base ??= parsePolicy(readFileSync(shipped, 'utf8'), 'policy.yaml');
  if (operatorFile === '') return base;
  return mergePolicies(base, parseOperatorPolicy(read(operatorFile), operatorFile));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const detail = `it cannot be read (${(error as NodeJS.ErrnoException).code ?? ''})`;
    throw new BusError('ATTENTION_POLICY_INVALID', { file, field: '', detail }, { cause: error });
  }
}
