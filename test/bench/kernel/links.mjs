// Are the links of an answer true of the source? Every function returns what is wrong, in words; empty: nothing.
import { place } from './c-source.mjs';

/** A way from one shard into another: the call on the `from` line, the definition on the `to` line, the chain to it. */
export function objectionsToVia(source, via) {
  const from = place(via.from);
  const to = place(via.to);
  const objections = [
    ...(source.holdsWord(from.file, from.line, via.symbol)
      ? []
      : [`${via.from} does not call ${via.symbol}`]),
    ...objectionsToDefinition(source, via.symbol, to.file, to.line),
    ...objectionsToSteps(source, via.chain),
  ];
  const last = via.chain.at(-1);
  if (last !== undefined) objections.push(...objectionsToInside(source, last, from));
  return objections;
}

/** A chain of calls: each symbol is defined where it is said to be, each call lies in the function before. */
export function objectionsToSteps(source, steps) {
  return steps.flatMap((step, at) => {
    const objections = objectionsToDefinition(source, step.symbol, step.file_path, step.line);
    const caller = steps[at - 1];
    if (caller === undefined) return objections;
    const site = place(step.call_site);
    if (!source.holdsWord(site.file, site.line, step.symbol))
      objections.push(`${step.call_site} does not call ${step.symbol}`);
    return [...objections, ...objectionsToInside(source, caller, site)];
  });
}

function objectionsToDefinition(source, symbol, file, line) {
  return source.definesAt(file, line, symbol) === undefined
    ? [`${file}:${line} does not define ${symbol}`]
    : [];
}

function objectionsToInside(source, caller, site) {
  const end = source.endOf(caller.file_path, caller.line);
  const isInside = site.file === caller.file_path && site.line >= caller.line && site.line <= end;
  return isInside
    ? []
    : [
        `${site.file}:${site.line} is outside ${caller.symbol} (${caller.file_path}:${caller.line}-${end})`,
      ];
}

export function isLink(via, wanted) {
  return (
    via.symbol === wanted.symbol &&
    place(via.from).file === wanted.from &&
    place(via.to).file === wanted.to
  );
}

export function describeLink({ symbol, from, to }) {
  return `${symbol}: ${from} -> ${to}`;
}
