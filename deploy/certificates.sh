#!/bin/sh
# Certificates for the servers of a bus on NATS, or for the console: sh certificates.sh FOLDER HOST...
# HOST is the name by which agents and the other servers reach it; an address is none.
# Makes an authority (ca.pem) once, and for each host HOST.pem and HOST-key.pem, which serve clients and routes.
# Bring each host its two files and ca.pem; keep ca-key.pem apart from the servers.
set -eu
umask 077
folder=$1
shift
days=825
mkdir -p "$folder"
cd "$folder"

if [ ! -e ca.pem ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -subj '/CN=Sigma Bus servers' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -keyout ca-key.pem -out ca.pem
fi

for host in "$@"; do
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$host" \
    -keyout "$host-key.pem" -out "$host.csr"
  printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$host" > "$host.ext"
  openssl x509 -req -in "$host.csr" -days $days -CA ca.pem -CAkey ca-key.pem -CAcreateserial \
    -extfile "$host.ext" -out "$host.pem"
  rm "$host.csr" "$host.ext"
done
