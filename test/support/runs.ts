/** How often a property is tried: `few` times in `npm test`, many more in `npm run campaign:properties`. */
export const runs = (few: number): number => few * Number(process.env.SIGMA_TEST_RUNS ?? 1);
