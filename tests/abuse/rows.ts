import type { Row } from "./row.ts";
import { approvalRows } from "./rows/approval-rows.ts";
import { approvedArgumentRows } from "./rows/approved-argument-rows.ts";
import { bulkRows } from "./rows/bulk-rows.ts";
import { callbackRows } from "./rows/callback-rows.ts";
import { configRows } from "./rows/config-rows.ts";
import { displayRows } from "./rows/display-rows.ts";
import { environmentRows } from "./rows/environment-rows.ts";
import { exchangeRows } from "./rows/exchange-rows.ts";
import { floodRows } from "./rows/flood-rows.ts";
import { handshakeRows } from "./rows/handshake-rows.ts";
import { httpAddressRows } from "./rows/http-address-rows.ts";
import { httpAnswerRows } from "./rows/http-answer-rows.ts";
import { httpFloodRows } from "./rows/http-flood-rows.ts";
import { httpHeaderRows } from "./rows/http-header-rows.ts";
import { httpLifeRows } from "./rows/http-life-rows.ts";
import { httpToxicRows } from "./rows/http-toxic-rows.ts";
import { idRows } from "./rows/id-rows.ts";
import { injectionRows } from "./rows/injection-rows.ts";
import { launchQuestionRows } from "./rows/launch-question-rows.ts";
import { launchRows } from "./rows/launch-rows.ts";
import { leakRows } from "./rows/leak-rows.ts";
import { leftBehindRows } from "./rows/left-behind-rows.ts";
import { lifeRows } from "./rows/life-rows.ts";
import { listRows } from "./rows/list-rows.ts";
import { mutationRows } from "./rows/mutation-rows.ts";
import { nameRows } from "./rows/name-rows.ts";
import { pinRows } from "./rows/pin-rows.ts";
import { poisonRows } from "./rows/poison-rows.ts";
import { progressRows } from "./rows/progress-rows.ts";
import { projectNameRows } from "./rows/project-name-rows.ts";
import { questionRows } from "./rows/question-rows.ts";
import { renewalRows } from "./rows/renewal-rows.ts";
import { repositoryRows } from "./rows/repository-rows.ts";
import { restartRows } from "./rows/restart-rows.ts";
import { roundRows } from "./rows/round-rows.ts";
import { schemaRows } from "./rows/schema-rows.ts";
import { secretRows } from "./rows/secret-rows.ts";
import { sessionRows } from "./rows/session-rows.ts";
import { shapeRows } from "./rows/shape-rows.ts";
import { shutdownRows } from "./rows/shutdown-rows.ts";
import { signInRows } from "./rows/sign-in-rows.ts";
import { signInSecretRows } from "./rows/sign-in-secret-rows.ts";
import { sizeRows } from "./rows/size-rows.ts";
import { stderrRows } from "./rows/stderr-rows.ts";
import { storeFailureRows } from "./rows/store-failure-rows.ts";
import { storeRows } from "./rows/store-rows.ts";
import { streamRows } from "./rows/stream-rows.ts";
import { valueRows } from "./rows/value-rows.ts";
import { vaultRows } from "./rows/vault-rows.ts";

/** The attack table. A family of attacks is a file; what it holds, `npm run test:abuse` prints. */
export const rows: readonly Row[] = [
  ...streamRows,
  ...idRows,
  ...shapeRows,
  ...valueRows,
  ...floodRows,
  ...stderrRows,
  ...progressRows,
  ...sizeRows,
  ...lifeRows,
  ...restartRows,
  ...leakRows,
  ...leftBehindRows,
  ...shutdownRows,
  ...launchRows,
  ...environmentRows,
  ...secretRows,
  ...handshakeRows,
  ...listRows,
  ...roundRows,
  ...httpAnswerRows,
  ...httpLifeRows,
  ...httpFloodRows,
  ...httpAddressRows,
  ...httpToxicRows,
  ...sessionRows,
  ...mutationRows,
  ...storeRows,
  ...storeFailureRows,
  ...approvalRows,
  ...approvedArgumentRows,
  ...configRows,
  ...launchQuestionRows,
  ...repositoryRows,
  ...exchangeRows,
  ...pinRows,
  ...questionRows,
  ...injectionRows,
  ...nameRows,
  ...projectNameRows,
  ...poisonRows,
  ...displayRows,
  ...schemaRows,
  ...httpHeaderRows,
  ...bulkRows,
  ...signInRows,
  ...callbackRows,
  ...signInSecretRows,
  ...renewalRows,
  ...vaultRows,
];
