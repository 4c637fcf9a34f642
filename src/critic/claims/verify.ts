import { BusError } from '../../errors/bus-error.js';
import type { MarkdownText } from '../artifact/markdown.js';
import { notChecked, type Checked, type Claim, type Verdict } from './claim.js';
import { lookUpCallCount, lookUpCalls } from './look-up-calls.js';
import { lookUpCommand, lookUpOption } from './look-up-commands.js';
import { lookUpParameterCount } from './look-up-signatures.js';
import { lookUpVersion } from './look-up-packages.js';
import { lookUpAnchor, lookUpLine, lookUpPath } from './look-up-paths.js';
import { lookUpDefinition, lookUpSymbol } from './look-up-symbols.js';
import { lookUpValue } from './look-up-values.js';
import { lookUpThrows } from './look-up-throws.js';
import type { Looking } from './looking.js';
import type { Tree } from './tree.js';

/**
 * Looks up each claim, in order, and reports it as soon as it is known. Throws what the signal of the tree throws; a
 * question that the index cannot answer leaves its claim unchecked.
 */
export async function verifyClaims(
  claims: readonly Claim[],
  read: MarkdownText,
  tree: Tree,
  report: (checked: Checked) => void = () => undefined,
): Promise<Checked[]> {
  const all: Checked[] = [];
  for (const claim of claims) {
    tree.signal.throwIfAborted();
    const checked = { claim, ...(await verdictOf({ tree, read, claim })) };
    all.push(checked);
    report(checked);
  }
  return all;
}

async function verdictOf(looking: Looking): Promise<Verdict> {
  try {
    return await lookUp(looking);
  } catch (error) {
    if (looking.tree.signal.aborted || !(error instanceof BusError)) throw error;
    return notChecked(`The index could not answer: ${error.code}.`);
  }
}

async function lookUp(looking: Looking): Promise<Verdict> {
  const { statement: said } = looking.claim;
  switch (said.kind) {
    case 'path':
      return lookUpPath(looking, said.path);
    case 'line':
      return lookUpLine(looking, said.path, said.symbol);
    case 'anchor':
      return lookUpAnchor(looking, said.path);
    case 'symbol':
      return lookUpSymbol(looking, said.symbol);
    case 'calls':
      return lookUpCalls(looking, said);
    case 'call_count':
      return lookUpCallCount(looking, said);
    case 'throws':
      return lookUpThrows(looking, said.symbol, said.isNever);
    case 'definition':
      return lookUpDefinition(looking, said);
    case 'parameter_count':
      return lookUpParameterCount(looking, said.symbol, said.value);
    case 'constant':
      return lookUpValue(looking, said.symbol, said.value, said.unit);
    case 'option':
      return lookUpOption(looking, said.flag, said.command);
    case 'command':
      return lookUpCommand(looking, said.runner, said.name);
    case 'version':
      return lookUpVersion(looking, said.name, said.value);
  }
}
