export interface NatsAddress {
  /** `host:port` of each server; a client takes the first that answers. */
  servers: readonly string[];
  isTls: boolean;
  /** Name of the bus: several may share the servers. */
  bus: string;
}
