// Self-signed certificates for tests, made by OpenSSL in a folder of their own.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace troupe::http {

class TlsFiles {
 public:
  TlsFiles() {
    char name[] = "/tmp/troupe-tls-XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  ~TlsFiles() { std::filesystem::remove_all(folder_); }

  /// Writes NAME.crt and NAME.key; valid from `from` to `until` seconds from now.
  void make(const std::string& name, long from = -3600, long until = 3600,
            const char* passphrase = nullptr) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), until);
    X509_set_pubkey(certificate, key);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate, subject);
    X509_sign(certificate, key, EVP_sha256());
    std::FILE* out = std::fopen(path(name + ".crt").c_str(), "w");
    PEM_write_X509(out, certificate);
    std::fclose(out);
    out = std::fopen(path(name + ".key").c_str(), "w");
    const auto* secret = reinterpret_cast<const unsigned char*>(passphrase);
    PEM_write_PrivateKey(out, key, passphrase != nullptr ? EVP_aes_128_cbc() : nullptr, secret,
                         passphrase != nullptr ? 4 : 0, nullptr, nullptr);
    std::fclose(out);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  /// Writes NAME.key, of another kind than those of make().
  void make_rsa_key(const std::string& name) {
    EVP_PKEY* key = EVP_RSA_gen(2048);
    std::FILE* out = std::fopen(path(name + ".key").c_str(), "w");
    PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
    EVP_PKEY_free(key);
  }
  std::string path(const std::string& file) const { return folder_ + "/" + file; }

 private:
  std::string folder_;
};

}  // namespace troupe::http
