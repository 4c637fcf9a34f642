// How much of what a right answer must name is in the first places of a list.

/** The last part of a name: `DBImpl::Write` and `DBImpl.Write` are `Write`. */
const last = (name) =>
  name
    .replaceAll(/<[^>]*>|\([^)]*\)/g, '')
    .split(/[.:#\s]+/)
    .at(-1);

/** A key is hit by a place in its file whose lines hold its line, or that bears its name. */
export function isHit({ file, line, symbol }, places) {
  return places.some(
    ({ path, lines = [0, 0], symbols = [] }) =>
      path === file &&
      ((lines[0] <= line && line <= lines[1]) ||
        symbols.some((each) => last(each) === last(symbol))),
  );
}

function shareOf(keys, places) {
  return keys.filter((key) => isHit(key, places)).length / keys.length;
}

/** Of one question: shares of its essential functions, of all, and of their files; `places`: `{ path, lines, symbols }`, best first. */
export function scoreOf({ keys }, places) {
  const essential = keys.filter((key) => key.essential);
  const files = [...new Set(places.map(({ path }) => path))].slice(0, 10);
  const wanted = [...new Set(keys.map(({ file }) => file))];
  const first = shareOf(essential, places.slice(0, 10));
  return {
    'essential@5': shareOf(essential, places.slice(0, 5)),
    'essential@10': first,
    'essential@20': shareOf(essential, places.slice(0, 20)),
    'all@10': shareOf(keys, places.slice(0, 10)),
    'files@10': wanted.filter((file) => files.includes(file)).length / wanted.length,
    complete: first === 1 ? 1 : 0,
    none: shareOf(keys, places.slice(0, 10)) === 0 ? 1 : 0,
  };
}
