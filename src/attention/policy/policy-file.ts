import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BusError } from '../../errors/bus-error.js';
import { mergePolicies, parseOperatorPolicy, parsePolicy, type Policy } from './policy.js';

/** The tables that ship with the product: beside the code, in the sources as in what is built. */
const shipped = fileURLToPath(new URL('../tables/', import.meta.url));

let base: Policy | undefined;

/** Where the settings say that a policy is. */
export interface PolicyPlace {
  home: string;
  attention?: { policy?: string | undefined } | undefined;
}

/** With what an operator adds; empty: nothing. Throws ATTENTION_POLICY_INVALID, TOO_LARGE. */
export function loadPolicy(operatorFile = ''): Policy {
  base ??= shippedPolicy();
  if (operatorFile === '') return base;
  return mergePolicies(base, parseOperatorPolicy(read(operatorFile), operatorFile));
}

/** The tables of a folder, one after the other: each key stands in one of the files. */
export function readTables(folder = shipped): Policy {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  const texts = files.sort().map((name) => readFileSync(path.join(folder, name), 'utf8'));
  return parsePolicy(texts.join('\n'), folder);
}

/** As the build has read and checked it; from the tables where it runs from the sources. */
function shippedPolicy(): Policy {
  const built = path.join(shipped, 'policy.json');
  if (existsSync(built)) return JSON.parse(readFileSync(built, 'utf8')) as Policy;
  return readTables();
}

/**
 * The policy in force: the operator's file is named in the settings, or is `attention.yaml` of the home. Throws
 * ATTENTION_POLICY_INVALID, TOO_LARGE.
 */
export function policyOf({ home, attention }: PolicyPlace): Policy {
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
