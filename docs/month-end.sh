#!/bin/sh
# month-end.sh answers ten questions of a month's end, each in a CSV file of this folder:
#
#   sh month-end.sh 2026-11-01 2026-12-01
#
# Days are UTC. fundesk query --help lists the tables.
set -eu
[ $# = 2 ] || { echo "usage: sh month-end.sh FROM UNTIL, such as 2026-11-01 2026-12-01" >&2; exit 2; }
FROM=$1 UNTIL=$2
umask 077 # The files have donors' data.
ask() { fundesk query "$2" --offline -o csv > "$1.csv"; }
fundesk copy sync -q

ask payments-by-charity "SELECT p.owningOrganization_name AS charity, t.status, count(*) AS payments,
    printf('%.2f', sum(t.amount_cents) / 100.0) AS euro
  FROM transactions t JOIN pledges p ON p.uuid = t.pledgeUuid
  WHERE t.createdAt >= '$FROM' AND t.createdAt < '$UNTIL'
  GROUP BY charity, t.status ORDER BY charity, t.status"

ask dropped-pledges-by-recruiter "SELECT coalesce(recruiterUser_name, recruiterUserUuid) AS recruiter,
    count(*) AS pledges, sum(status = 'dropped') AS dropped
  FROM pledges GROUP BY recruiter HAVING dropped > 0 ORDER BY dropped DESC, recruiter"

ask results-by-agent-and-day "SELECT userUuid AS agent, date(completedAt) AS day, resultCode, count(*) AS calls
  FROM results WHERE completedAt >= '$FROM' AND completedAt < '$UNTIL'
  GROUP BY agent, day, resultCode ORDER BY day, agent, resultCode"

ask donors-without-address "SELECT uuid, lastName FROM persons
  WHERE coalesce(address_street, '') = '' OR coalesce(address_zipCode, '') = '' ORDER BY uuid"

ask failed-payments "SELECT t.uuid, t.personUuid, date(t.createdAt) AS day, t.amount, t.status, t.description
  FROM transactions t
  WHERE t.status <> 'paid' AND t.createdAt >= '$FROM' AND t.createdAt < '$UNTIL' ORDER BY t.createdAt, t.uuid"

ask active-donors-without-payment "SELECT p.personUuid, p.uuid AS pledge, p.donationAmount FROM pledges p
  WHERE p.status = 'active' AND NOT EXISTS (SELECT 1 FROM transactions t WHERE t.pledgeUuid = p.uuid
    AND t.status = 'paid' AND t.createdAt >= '$FROM' AND t.createdAt < '$UNTIL') ORDER BY pledge"

ask value-by-campaign "SELECT coalesce(campaignCode, '') AS campaign, count(*) AS pledges,
    printf('%.2f', sum(donationAmount_cents * CASE donationInterval WHEN 'monthly' THEN 12 WHEN 'quarterly' THEN 4
      WHEN 'half-yearly' THEN 2 ELSE 1 END) / 100.0) AS euro_a_year
  FROM pledges WHERE status = 'active' GROUP BY campaign ORDER BY campaign"

ask calls-by-type "SELECT type, count(*) AS calls, sum(status = 'completed') AS completed,
    sum(status = 'expired') AS expired, round(avg(attemptsCount), 2) AS attempts_a_call
  FROM calls WHERE requestedAt >= '$FROM' AND requestedAt < '$UNTIL' GROUP BY type ORDER BY type"

ask attempts-by-hour "SELECT strftime('%H', attemptAt) AS hour, count(*) AS attempts FROM attempts
  WHERE attemptAt >= '$FROM' AND attemptAt < '$UNTIL' GROUP BY hour ORDER BY hour"

ask donors-who-may-be-called "SELECT owningOrganization_name AS charity, count(*) AS donors,
    sum(coalesce(optInPhone, 0)) AS agreed, sum(coalesce(phoneNumber, mobilePhoneNumber) IS NULL) AS without_number
  FROM persons GROUP BY charity ORDER BY charity"
