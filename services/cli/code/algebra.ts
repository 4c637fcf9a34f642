import type { Command } from 'commander';
import {
  shownDefault,
  shownMax,
  type AlgebraAnchor,
  type AlgebraAnswer,
} from '../../../src/pgc/analyse/algebra/evaluate.js';
import { parseExpression } from '../../../src/pgc/analyse/algebra/expression.js';
import { wholeNumber, withTree, type TreeOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print, withError } from '../output.js';
import { renderErrors } from '../../../src/render/answer.js';
import { analysed, analysisDeadlineMs } from './analysis.js';

interface AlgebraOptions extends TreeOptions {
  limit: number;
}

const examples = `
Sets of symbols, by what the overlays say of them:
  +  |  ∪   or      -  \\  −   without      &  ∩   and      !   every symbol that is not      ( )
  O2[severity=high]  O1[kind=function, path=net/core]  O3[calls, subject=kfree]  O6[assertion, text~"irq"]

Examples:
  sigma algebra "O1 & O4"                        symbols that the documentation speaks of
  sigma algebra "O1[kind=function] - O3"         functions that neither call nor are called
  sigma algebra "O2[severity=high] - O6"         grave findings where nothing is asserted`;

export function addAlgebraCommand(sigma: Command): void {
  withTree(
    sigma.command('algebra').argument('<expression>', 'for example "O1 & O4"'),
    analysisDeadlineMs,
  )
    .description(
      'combine overlays into a set of symbols: union, intersection, difference, complement',
    )
    .option(
      '--limit <n>',
      `how many are printed, at most ${shownMax}; all are counted`,
      wholeNumber(0, shownMax),
      shownDefault,
    )
    .addHelpText('after', examples)
    .action(async (text: string, its: AlgebraOptions) => {
      // A wrong expression needs no broker to be refused.
      parseExpression(text);
      const request = { expression: text, limit: its.limit };
      const found = await analysed(its, (tree, how) => tree.algebra(request, how));
      const failed = found.errors.length > 0;
      const answer = withError({ expression: text, ...found }, failed);
      print(its, answer, () => render(answer));
      if (failed) process.exitCode = 1;
    });
}

function render({ count, anchors, warnings, errors }: AlgebraAnswer): string {
  const total = `${count} ${count === 1 ? 'anchor' : 'anchors'}`;
  return [
    ...anchors.map((each) => printable(renderAnchor(each))),
    ...warnings.map((warning) => `note: ${warning}`),
    ...renderErrors(errors),
    anchors.length < count ? `${total}, ${anchors.length} shown` : total,
  ].join('\n');
}

function renderAnchor({ file_path, line, symbol, kind, items }: AlgebraAnchor): string {
  const name = symbol === '' ? '' : `${symbol} `;
  // O1 says no more than the kind does.
  const said = items.filter(({ overlay }) => overlay !== 'O1');
  const why = [...new Set(said.map(({ overlay, rule }) => `${overlay} ${rule}`))].join(', ');
  return `${file_path}:${line} ${name}(${kind})${why === '' ? '' : `  ${why}`}`;
}
