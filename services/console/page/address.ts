/** Where the person is: `/symbol/…?id=…` is the page `symbol`, what follows it, and a query. */
export interface Route {
  page: string;
  rest: string[];
  query: URLSearchParams;
}

/** What each page is given. */
export interface PageProps {
  route: Route;
}

export function routeOf(url: string): Route {
  const { pathname, searchParams } = new URL(url, 'http://page');
  const [page = '', ...rest] = pathname.split('/').slice(1).map(decoded);
  return { page, rest: rest.filter((part) => part !== ''), query: searchParams };
}

/** The link to a page; what is undefined or empty is left out of the query. */
export function linkTo(
  page: string,
  rest: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter(
    (each): each is [string, string] => each[1] !== undefined && each[1] !== '',
  );
  const search = new URLSearchParams(given).toString();
  const path = [page, ...rest].map(encodeURIComponent).join('/');
  return `/${path}${search === '' ? '' : `?${search}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A link that was typed by hand may hold a lone percent sign.
    return part;
  }
}

/** Of several trees the one that the address names. */
export function treeOf({ query }: Route): string | undefined {
  return query.get('tree') ?? undefined;
}

/** The same link about another tree. */
export function about(link: string, tree: string | undefined): string {
  const url = new URL(link, 'http://page');
  if (tree === undefined) url.searchParams.delete('tree');
  else url.searchParams.set('tree', tree);
  return url.pathname + url.search;
}
