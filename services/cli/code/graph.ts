import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import type { CalleesAnswer, CallersAnswer, CallSite } from '../../../src/pgc/shapes.js';
import { withQuestions } from '../connect.js';
import { configOf, withTree, type TreeOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print, withError } from '../output.js';
import { renderErrors, renderTrace } from '../../../src/render/answer.js';

export function addGraphCommands(sigma: Command): void {
  const symbolHelp = 'a name, or path#name where a name has several definitions';

  for (const [name, description] of [
    ['callers', 'list all call sites of a symbol'],
    ['callees', 'list everything a symbol calls'],
  ] as const)
    withTree(sigma.command(name).argument('<symbol>', symbolHelp))
      .description(description)
      .action(async (symbol: string, its: TreeOptions) => {
        const answer = await withQuestions<CallersAnswer | CalleesAnswer>(
          configOf(its),
          its.repo,
          (questions) => questions[name](symbol, { deadlineMs: its.deadline }),
        );
        const failed = answer.errors.length > 0;
        print(its, withError(answer, failed), () => renderSites(answer));
        if (failed) process.exitCode = 1;
      });

  withTree(sigma.command('trace').argument('<from>', symbolHelp).argument('<to>', symbolHelp))
    .description('find the shortest chain of calls between two symbols')
    .action(async (from: string, to: string, its: TreeOptions) => {
      const found = await withQuestions(configOf(its), its.repo, (questions) =>
        questions.trace(from, to, { deadlineMs: its.deadline }),
      );
      const noRoute = { ...new BusError('NO_ROUTE', { from, to }).toFailure(), agent: '' };
      const answer =
        found.found || found.errors.length > 0 ? found : { ...found, errors: [noRoute] };
      print(its, withError(answer, !answer.found), () => renderTrace(answer));
      if (!answer.found) process.exitCode = 1;
    });
}

function renderSites(answer: CallersAnswer | CalleesAnswer): string {
  const { definitions, errors } = answer;
  const [verb, sites] =
    'callers' in answer ? ['called by', answer.callers] : ['calls', answer.callees];
  const note = ({ definition, ignored }: CallSite): string => {
    if (verb === 'calls') return definition === '' ? '' : `  -> ${printable(definition)}`;
    return ignored ? '  (its result is ignored)' : '';
  };
  return [
    ...definitions.map(
      (each) =>
        `${each.symbol} (${each.kind}) defined at ${printable(each.file_path)}:${each.line} [${each.agent}]`,
    ),
    ...(definitions.length + sites.length > 0
      ? [`${verb} ${sites.length} site${sites.length === 1 ? '' : 's'}`]
      : []),
    ...sites.map(
      (site) =>
        `  ${printable(site.file_path)}:${site.line}  ${site.symbol === '' ? '(file level)' : site.symbol}${note(site)}`,
    ),
    ...renderErrors(errors),
  ].join('\n');
}
