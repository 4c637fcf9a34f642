/** Tokens of well-known issuers, found by prefixes that nothing else has. Their values are never stored. */
export const issuerTokens =
  /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[abpr]-[A-Za-z0-9-]{20,}|sk_live_[A-Za-z0-9]{16,})/g;
