export const clientClaims = async () => [];
