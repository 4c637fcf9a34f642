import { scopedName } from './product.mjs';

/** Each true chain: whether a way was found from its start to its end, and which links of it no compiler knows. */
export async function measureChains({ truth, product, chains }) {
  const rows = [];
  for (const { places, crosses } of chains) {
    const [from, to] = [places[0], places.at(-1)].map((place) => scopedName(truth, place));
    const { answer, ms } = await product.trace(from, to);
    const links = linksOf(answer.path);
    const isTrue = (link) => leads(truth, link);
    rows.push({
      ...{ from, to, crosses, calls: places.length - 1, ms, isFound: answer.found },
      true: places,
      links: links.length,
      invented: links.filter((link) => isTrue(link) === false),
      unjudged: links.filter((link) => isTrue(link) === undefined).length,
    });
  }
  return rows;
}

function linksOf(path) {
  return path.slice(1).map(({ call_site: site, file_path, line }, at) => ({
    ...{ site, to: `${file_path}:${line}` },
    from: `${path[at].file_path}:${path[at].line}`,
  }));
}

function leads(truth, { site, from, to }) {
  if (!truth.definitions.has(to)) return undefined;
  // From a method of an interface to what implements it there is no call.
  if (site === '') return truth.implements(to, from);
  const colon = site.lastIndexOf(':');
  return truth.leads(site.slice(0, colon), Number(site.slice(colon + 1)), to);
}
