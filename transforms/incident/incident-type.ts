/** An incident in our own words. */
export interface Incident {
  /** The same for all messages about one incident. */
  key: string;
  state: 'open' | 'resolved';
  severity: 'high' | 'low';
  service: string;
  title: string;
  details: string;
  link?: string;
}
