const handledMethods: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/elicitation/complete",
  "notifications/message",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
  "notifications/subscriptions/acknowledged",
  "notifications/tools/list_changed",
]);

/** Whether the host has a use for the notification; progress is decided by its token instead. */
export function isHandledNotification(method: string): boolean {
  return handledMethods.has(method);
}
