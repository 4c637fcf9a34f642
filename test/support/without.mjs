// Read before a program (`node --import`): the packages that WITHOUT names are not there for its modules.
import { register } from 'node:module';

const hooks = `
  const names = ${JSON.stringify((process.env.WITHOUT ?? '').split(','))};
  export function resolve(wanted, context, next) {
    if (names.some((name) => wanted === name || wanted.startsWith(name + '/')))
      throw new Error(wanted + ' is not there');
    return next(wanted, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
